/** Before each file of tests: it gets modules of the project that remember nothing of the file before it. */
vi.resetModules();
