import { isExternalId, isUuid, isWalletAddress } from './address.ts';
import { textProblem } from './text-problem.ts';

export function isIdentifier(text: string): boolean {
  return isUuid(text) || isWalletAddress(text) || isExternalId(text);
}

/** What is wrong with a mistyped address; `undefined` for text that looks like none. */
export function addressProblem(text: string): string | undefined {
  const unstorable = textProblem(text);
  if (unstorable !== undefined) return unstorable;
  if (/…|\.\.\./.test(text)) return 'is shortened: the whole address is needed';
  const [, digits = ''] = /^0x(\w+)$/i.exec(text) ?? [];
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0];
  if (digits.length >= 20 && wrong !== undefined) return `has the letter ${wrong}, which is not a hex digit`;
  if (digits !== '' && digits.length !== 40)
    return `has ${digits.length} hex digit${digits.length === 1 ? '' : 's'}, 40 are needed`;
  return digits !== '' && !text.startsWith('0x') ? 'must begin with 0x' : undefined;
}

/** Section "Limits". */
export const honoredViewers = 10;
