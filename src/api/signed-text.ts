import { decodeBase58, isEvmAddress, isSolanaAddress, normalizeAddress, textProblem, tokenProblem } from './address.ts';
import type { Chain } from './chain.ts';
import { unseenIn } from './safe-text.ts';

/** The fields of a signed text. The transaction value and the comment go in byte for byte. */
export interface TextFields {
  chain: Chain;
  tokenAddress: string;
  transactionHash: string;
  commentText: string;
}

export interface TextForm {
  /** First word of the first line. */
  serviceName: string;
  layout: 'five-line' | 'blank-line';
}

/**
 * The text that a comment's author signs. `five-line`: exactly the interface document's five lines; `blank-line`: an empty line after
 * the first (wire-facts 3.6). Lines joined by a line feed, none at the end.
 */
export function signedText(fields: TextFields, { serviceName, layout }: TextForm): string {
  return [
    `${serviceName} Swap Comment:`,
    ...(layout === 'blank-line' ? [''] : []),
    `Chain: ${fields.chain}`,
    `Token Address: ${normalizeAddress(fields.tokenAddress)}`,
    `Txn Hash: ${fields.transactionHash}`,
    `Comment: ${fields.commentText}`,
  ].join('\n');
}

/** Whether a text can be the first words of a signed text: one line of visible characters, without spaces around it. */
export function isServiceName(name: string): boolean {
  return name !== '' && name.trim() === name && unseenIn(name).length === 0;
}

interface FieldProblem {
  field: 'transactionHash' | 'tokenAddress' | 'commentText';
  problem: string;
}

/**
 * What is wrong with the fields of a comment for their chain; `undefined` if nothing is. A transaction is 0x and 64 hex digits, on
 * solana 64 bytes in base58, on hyperliquid also an order id; a token is an address of the chain's form, on hyperliquid also a coin.
 */
export function fieldProblem(fields: TextFields): FieldProblem | undefined {
  const { chain, transactionHash, tokenAddress, commentText } = fields;
  const transaction = transactionProblem(chain, transactionHash);
  if (transaction !== undefined) return { field: 'transactionHash', problem: transaction };
  const token = tokenProblem(chain, tokenAddress);
  if (token !== undefined) return { field: 'tokenAddress', problem: token };
  const problem = textProblem(commentText);
  return problem === undefined ? undefined : { field: 'commentText', problem };
}

/** The same with the length of the comment, in one sentence that names the field and its value. */
export function commentProblem(fields: TextFields): string | undefined {
  const count = fields.commentText.length;
  if (count > maxCommentCharacters)
    return `commentText has ${count} characters, at most ${maxCommentCharacters} are allowed (UTF-16 units: most emoji are two)`;
  const wrong = fieldProblem(fields);
  if (wrong === undefined) return undefined;
  const shown = wrong.field === 'commentText' ? '' : ` ${fields[wrong.field]}:`;
  return `${wrong.field}${shown} ${wrong.problem}`;
}

const isEvmHash = (text: string) => /^0x[0-9a-fA-F]{64}$/.test(text);
const isOrderId = (text: string) => /^\d{1,20}$/.test(text);
const isSolanaHash = (text: string) => decodeBase58(text, 64) !== undefined;

/** What is wrong with the hash of a transaction, or an order id, for its chain; `undefined` if nothing is. */
export function transactionProblem(chain: string, text: string): string | undefined {
  if (chain === 'solana') {
    if (isSolanaHash(text)) return undefined;
    return `${describeForm(text)}; a transaction on solana is 64 bytes in base58 (87 or 88 letters)`;
  }
  if (isEvmHash(text) || (chain === 'hyperliquid' && isOrderId(text))) return undefined;
  const wanted = chain === 'hyperliquid' ? '0x and 64 hex digits, or an order id' : '0x and 64 hex digits';
  return `${describeForm(text)}; a transaction on ${chain} is ${wanted}`;
}

function describeForm(text: string): string {
  if (isOrderId(text)) return 'that is an order id, which only hyperliquid has';
  if (isEvmHash(text)) return 'that is the hash of an EVM transaction';
  if (isSolanaHash(text)) return 'that is a Solana transaction';
  if (isEvmAddress(text) || isSolanaAddress(text)) return 'that is an address, not a transaction';
  if (/^https?:/.test(text)) return 'that is a URL, not a transaction hash';
  if (/^\s|\s$/.test(text)) return 'it begins or ends with a space or line end';
  return /^0x[0-9a-fA-F]*$/.test(text) ? `it has ${text.length - 2} hex digits` : 'it is not a transaction hash';
}

/** Longest comment, in UTF-16 units, as the service counts. Section "Limits", wire-facts F9. */
export const maxCommentCharacters = 9999;
