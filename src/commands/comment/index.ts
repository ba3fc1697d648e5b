import * as endpoints from '../../api/comment.ts';
import { local } from '../../api/endpoint.ts';
import { chainKind } from '../../api/formats.ts';
import { choice, listOf, optional, text } from '../../api/kind.ts';
import { transactionProblem } from '../../api/signed-text.ts';
import { defineCommand, option } from '../../cli/command.ts';
import { deriveCommands, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { inputError, type NameInput, usageError } from '../../errors.ts';
import { parseMoment } from '../../model/duration.ts';
import { keyParams } from '../key/params.ts';
import type { CopyInput } from './copies.ts';

const loadCommentViews = () => import('./view.ts');

export const views = {
  post: async () => (await loadCommentViews()).post,
  list: async () => (await loadCommentViews()).list,
  copy: async () => (await loadCommentViews()).copy,
  ofToken: async () => (await loadCommentViews()).ofToken,
};

const typedText = local(optional(endpoints.commentTextKind), 'the comment; the same as --text', {
  positional: true,
});

/** What a comment is about, typed as for `comment post`; optional, since it may come from a file. */
const commentParams = {
  chain: local(optional(chainKind), 'chain of the swap'),
  transactionHash: option.text(endpoints.post.params.transactionHash.help, { flag: 'tx' }),
  tokenAddress: option.text(endpoints.post.params.tokenAddress.help, { flag: 'token', takesAddress: 'token' }),
  commentText: local(optional(endpoints.commentTextKind), 'the comment', { flag: 'text' }),
  textFile: option.text('file with the comment, byte for byte; - is stdin'),
};

const formParams = {
  serviceName: option.text("first word of the signed text (default: context's)"),
  layout: local(
    optional(choice(['five-line', 'blank-line'])),
    "form of the signed text (default: context's, else five-line)",
  ),
};

const keyWays =
  'The key comes from --key-file, --key-env, --key-stdin, --key, or a prompt without echo, never from an argument; or --browser or --signer-command signs (10 minutes a step, or --timeout).';

/** Signing without giving a key. */
const walletParams = {
  signerCommand: option.text('command that signs, for --signer: see help signing'),
  browser: option.flag('sign with your browser wallet, on a local page'),
  open: option.flag('open the page; else its address is printed'),
  readyFile: option.text('write {ui, pid} here; ui is the address of the page'),
};

const sign = defineCommand({
  words: ['comment', 'sign'],
  summary: 'Build the text of a comment and sign it, without sending anything',
  description: `Needs no network and no API key. ${keyWays}`,
  params: {
    comment: typedText,
    ...commentParams,
    ...formParams,
    preview: option.flag('show the text with warnings about it; needs no key'),
    ...keyParams,
    ...walletParams,
    signer: option.text('address that must sign; another one is an error', { takesAddress: 'wallet' }),
    file: option.text('sign many: NDJSON of chain, transactionHash, tokenAddress, commentText; - is stdin'),
    out: option.text('file for the signed comment (comment post --signed)'),
  },
  examples: [
    {
      argv: '--sandbox comment sign --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --preview',
      says: 'the text that would be signed',
    },
    {
      argv: '--sandbox comment sign --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --browser --dry-run',
      says: 'what your browser wallet would sign; without --dry-run it does',
    },
    {
      argv: 'comment sign --chain hyperliquid --tx 52012345678 --token ETH --text gm --service-name Clicker --layout blank-line --preview --json',
      says: 'the public form, for a perp order, as JSON',
    },
  ],
  uses: ['service', 'changes', 'answers'],
  exitCodes: [3, 11, 124, 130],
  view: async () => (await loadCommentViews()).sign,
  run: async (input, context) => (await import('./run-sign.ts')).runSign(readText(input), context),
});

const post = defineCommand({
  words: ['comment', 'post'],
  summary: endpoints.post.summary,
  description: `On a terminal it shows the text and asks first, unless --yes; a script needs no --yes; with --browser the page asks. If it is not known whether a comment was posted, it is looked up, never posted twice; a batch (--file) continues where it stopped. ${keyWays}`,
  params: {
    comment: typedText,
    ...commentParams,
    last: option.flag("about the signer's newest swap without a comment"),
    signature: option.text('a signature made elsewhere; needs --signer'),
    signer: option.text('address that signed, or must sign', { takesAddress: 'wallet' }),
    ...formParams,
    ...keyParams,
    ...walletParams,
    signed: option.text('post what comment sign --out wrote; - is stdin'),
    file: option.text('post many in order: NDJSON, signed or not, or -'),
  },
  endpoint: { method: 'POST', path: endpoints.post.path, source: 'spec' },
  examples: [
    {
      argv: 'comment post --chain base --tx 0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911 --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --text gm --key trader',
      says: 'sign with a stored key (sotra key generate trader), and post',
    },
    { argv: 'comment post gm --key trader --last', says: 'on the swap that the wallet of the key just made' },
    // Those of the endpoint only show their request, because a comment can be posted once.
    ...endpoints.post.examples.map(({ argv }, index) => ({
      argv: `--sandbox ${argv.replace(/ --(dry-run|curl)$/, '')}`,
      says: index === 0 ? 'post a comment that was signed elsewhere, in the sandbox' : 'a comment on a perp order',
    })),
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, ...serviceExitCodes, 10, 11, 12, 124],
  view: views.post,
  run: async (typed, context) => {
    const input = readText(typed);
    if (input.file === undefined) return (await import('./post.ts')).runPost(input, context);
    return (await import('./post-many.ts')).postMany({ ...input, file: input.file }, context);
  },
});

/** The input with the text that was typed as argument. Errors: `usage` for a second text. */
function readText<
  Input extends { comment?: string | undefined; commentText?: string | undefined; textFile?: string | undefined },
>({ comment, ...input }: Input) {
  if (comment === undefined) return input;
  const other = input.commentText === undefined ? '--text-file' : '--text';
  if (input.commentText !== undefined || input.textFile !== undefined)
    throw usageError(`the comment stands twice: as an argument and with ${other}`, `Omit ${other}.`);
  return { ...input, commentText: comment };
}

const verify = defineCommand({
  words: ['comment', 'verify'],
  summary: 'Check whether an address signed a comment',
  description: 'Needs no network, no API key and no private key. Ends with 12 when the signature is not valid.',
  params: {
    ...commentParams,
    signature: option.text('the signature'),
    signer: option.text('the address that should have signed', { takesAddress: 'wallet' }),
    ...formParams,
    signed: option.text('check what comment sign --out wrote; - is stdin'),
  },
  examples: [
    {
      argv: '--sandbox comment verify --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --signature 0xd295006801756382610ed2ad14fdab264e0d366423790afa93134a437ff8a5543a335a95eebfef1dca0dc26ae12b9a8bef546f5d21ba94b1eda165bd5644b2901c --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      says: 'a good signature',
    },
    {
      argv: 'comment verify --service-name Clicker --layout blank-line --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --signature 0x34377817d8ab49dc5c0a10c38f4bedd688979aab08ccc9245a9a02c4fcf05f1637d6ada3d520cf1c1f9caf0c6eb6369323599b771c62b49e1142d900fc748b101b --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --json',
      says: 'over the public form, as JSON',
    },
  ],
  uses: ['service'],
  exitCodes: [3, 12],
  view: async () => (await loadCommentViews()).verify,
  run: async (input, context) => (await import('./run-sign.ts')).runVerify(input, context),
});

const copy = endpointCommand(endpoints.copy, views.copy, {
  params: {
    trackExitUntil: option.text(
      'follow exits of the position until this time, or for this long, at most 7d; hyperliquid only',
    ),
    again: option.flag(
      'send an intent again that was sent within a day; without it you are asked on a terminal, and refused elsewhere',
    ),
  },
  oneOf: [['actorAddress', 'actorAddresses']],
  prepare: async ({ again, ...typed }, context) => {
    const input = prepareCopy(typed, context);
    if (again !== true) await (await import('./copies.ts')).refuseRepeat(input, context);
    return input;
  },
});

const list = endpointCommand(endpoints.list, views.list, {
  params: {
    hashes: { ...endpoints.list.params.hashes, kind: optional(endpoints.list.params.hashes.kind) },
    tx: local(optional(listOf(text())), 'the same as <hash...>, as in comment sign and comment post'),
  },
  oneOf: [['hashes', 'tx']],
  prepare: ({ hashes = [], tx = [], ...rest }) => {
    for (const [key, hash] of [...hashes.map((each) => ['hashes', each]), ...tx.map((each) => ['tx', each])] as const) {
      const problem = transactionProblem(rest.chain, String(hash));
      if (problem !== undefined) throw inputError((name) => ({ message: `${name(String(key))} ${hash}: ${problem}` }));
    }
    return { ...rest, hashes: [...hashes, ...tx] };
  },
});

/** Every command of this noun, and the comments of a token. */
export const commands = deriveCommands(endpoints, views, [post, list, copy, sign, verify]);

/** The intent as it is sent: `7d` becomes the time 7 days from now. Errors: `usage`. */
function prepareCopy(typed: CopyInput, { io }: Pick<Context, 'io'>): CopyInput {
  const { trackExitUntil: until, ...input } = typed;
  if (until === undefined) return input;
  const refuseTime = (why: string, hint?: (name: NameInput) => string) =>
    inputError((name) => ({ message: `${name('trackExitUntil')} ${until}: ${why}`, hint: hint?.(name) }));
  const { chain } = input;
  if (chain !== 'hyperliquid')
    throw refuseTime(`exits are tracked on hyperliquid only${chain ? `, not on ${chain}` : ''}`, (name) =>
      chain ? 'Omit it.' : `Add ${name('chain')} hyperliquid.`,
    );
  const nowMs = io.now();
  const atMs = parseMoment(until, nowMs, 'ahead');
  if (atMs === undefined) throw refuseTime('must be a time such as 7d, 12h or 2026-11-20T12:00:00Z');
  if (atMs <= nowMs) throw refuseTime('is not in the future');
  if (atMs > nowMs + endpoints.maxTrackingMs)
    throw refuseTime('is more than 7 days ahead', (name) => `The longest is ${name('trackExitUntil')} 7d.`);
  return { ...input, trackExitUntil: new Date(atMs).toISOString() };
}
