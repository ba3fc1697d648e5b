import { commentTextKind } from '../../api/comment.ts';
import { local } from '../../api/endpoint.ts';
import { chainKind, layouts } from '../../api/formats.ts';
import { choice, optional } from '../../api/kind.ts';
import { usageError } from '../../errors.ts';
import { option } from '../params.ts';

/** The comment as an argument. */
export const textArgument = local(optional(commentTextKind), 'the comment (or --text)', { positional: true });

/** The swap and the comment on it. None is required here: a file may hold them. */
export const commentParams = {
  chain: local(optional(chainKind), 'chain of the swap'),
  transactionHash: option.text('transaction hash, or order id on hyperliquid', { flag: 'tx', valueName: 'hash' }),
  tokenAddress: option.text('contract address, mint, or coin on hyperliquid', { flag: 'token', takesAddress: 'token' }),
  commentText: local(optional(commentTextKind), 'the comment; --text=--json for one that is an option of sotra', {
    flag: 'text',
  }),
  textFile: option.text('file with the comment, signed as it is but without a BOM; - is stdin'),
};

export const formParams = {
  serviceName: option.text("first word of the signed text (default: context's)"),
  layout: local(optional(choice(layouts)), "form of the signed text (default: context's, else five-line)"),
};

/** Ways to sign without giving a key. */
export const walletParams = {
  signerCommand: option.text('command that signs for --signer (help signing)'),
  browser: option.flag('sign with a browser wallet, on a local page'),
  open: option.flag('with --browser: open the page in the browser'),
  readyFile: option.text('with --browser: write {ui, pid} to this file'),
};

export const keyWays =
  'The private key stays on this machine and is never an argument: --key, --key-file, --key-env, --key-stdin, or a hidden prompt. --browser and --signer-command sign without it.';

interface TextInput {
  comment?: string | undefined;
  commentText?: string | undefined;
  textFile?: string | undefined;
}

/** The input with its argument as the text of the comment. Errors: `usage` if the text is given twice. */
export function readText<Input extends TextInput>({ comment, ...input }: Input) {
  if (comment === undefined) return input;
  const other = input.commentText === undefined ? '--text-file' : '--text';
  if (input.commentText !== undefined || input.textFile !== undefined)
    throw usageError(`the comment is given twice: as an argument and with ${other}`, `Omit ${other}.`);
  return { ...input, commentText: comment };
}
