import { option } from './params.ts';

export const db = option.file('database file (default: that of the sandbox at the base URL, or the built-in one)');
