/** What is built, as n8n loads it: what is tested is what is published. */
import { join } from 'node:path';

const dist = join(__dirname, '..', '..', 'dist');

/** @param path of a file in `dist` */
export const built = <T>(path: string): T => jest.requireActual<object>(join(dist, path)) as T;
