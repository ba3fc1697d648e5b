import { z } from 'zod';
import { local } from '../contract/endpoint.ts';
import { isHttpAddress } from '../model/http-address.ts';

type More = Parameters<typeof local>[2];

const text = z.string().min(1).optional();
const texts = z.array(z.string().min(1)).optional();
const flag = z.boolean().optional();

/** Inputs that no command requires, and that are never sent. */
export const option = {
  text: (help: string, more?: More) => local(text, help, more),
  texts: (help: string, more?: More) => local(texts, help, more),
  flag: (help: string) => local(flag, help),
  /** A whole number. */
  count: (min: number, max: number, help: string) => local(z.int().min(min).max(max).optional(), help),
  /** A text that fits; `rule` says what it must be. */
  checked: (help: string, fits: (text: string) => boolean, rule: string, more?: More) =>
    local(z.string().refine(fits, rule).optional(), help, more),
};

export const httpAddress = z.string().refine(isHttpAddress, 'must be an http or https address');
