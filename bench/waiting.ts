import type { Bench } from './report';

export const bench: Bench = { title: 'to do', run: () => Promise.reject(new Error('to do')) };
