import { z } from 'zod';
import { local } from '../contract/endpoint.ts';

type More = Parameters<typeof local>[2];

const text = z.string().min(1).optional();
const flag = z.boolean().optional();

/** Inputs that no command requires, and that are never sent. */
export const option = {
  text: (help: string, more?: More) => local(text, help, more),
  flag: (help: string) => local(flag, help),
  /** A text that fits; `rule` says what it must be. */
  checked: (help: string, fits: (text: string) => boolean, rule: string, more?: More) =>
    local(z.string().refine(fits, rule).optional(), help, more),
};
