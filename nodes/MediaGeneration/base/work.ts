/** Long work in pieces: whenever it yields, others may run. */
export type Work<T> = Generator<undefined, T>;
