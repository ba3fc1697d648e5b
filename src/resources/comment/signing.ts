import { isEvmAddress } from '../../model/address.ts';

/** What a signed text is made of. The transaction value and the comment go in byte for byte. */
export interface TextFields {
  chain: string;
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
    `Token Address: ${signedToken(fields.tokenAddress)}`,
    `Txn Hash: ${fields.transactionHash}`,
    `Comment: ${fields.commentText}`,
  ].join('\n');
}

/** The token as it is signed and sent: EVM addresses lowercase, everything else unchanged. */
export function signedToken(tokenAddress: string): string {
  return isEvmAddress(tokenAddress) ? tokenAddress.toLowerCase() : tokenAddress;
}
