import { tokenProblem } from '../model/address.ts';
import { hasTokenAddresses, refuseValue } from './input.ts';
import type { Field } from './outline.ts';

/** Errors: `usage` for a token that cannot be one of its chain. */
export function checkTokens(fields: readonly Field[], input: Readonly<Record<string, unknown>>): void {
  const { chain } = input;
  if (!hasTokenAddresses(chain)) return;
  for (const field of fields.filter(({ identifier }) => identifier === 'token')) {
    const token = input[field.key];
    const message = typeof token === 'string' ? tokenProblem(chain, token) : undefined;
    if (message !== undefined) throw refuseValue(field, { value: token, message });
  }
}
