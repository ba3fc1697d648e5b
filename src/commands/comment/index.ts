import * as endpoints from '../../api/comment.ts';
import { parseMoment } from '../../api/duration.ts';
import { type InputOf, local } from '../../api/endpoint.ts';
import { chainKind, layouts } from '../../api/formats.ts';
import { choice, listOf, optional, text } from '../../api/kind.ts';
import { transactionProblem } from '../../api/signed-text.ts';
import type { Context } from '../../context.ts';
import { inputError, type NameInput, usageError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, describeEndpoint } from '../endpoint-command.ts';
import { keyParams } from '../key/index.ts';
import { option } from '../params.ts';
import * as views from './view.ts';

export function setUp(comment: Command): void {
  const description =
    'On a terminal it shows the text and asks first. If the answer is lost, it looks for the comment and never posts twice; --file resumes where it stopped.';
  describeEndpoint(comment, 'post', endpoints.post, `${description}\n${keyWays}`)
    .params({
      comment: textArgument,
      ...commentParams,
      last: option.flag("the signer's newest swap without a comment", {
        conflicts: ['chain', 'transactionHash', 'tokenAddress'],
      }),
      signature: option.text('signature made elsewhere; needs --signer', {
        needs: 'signer',
        conflicts: ['last', ...signingKeys],
      }),
      signer: option.text('address that signed (--signature) or must sign', { takesAddress: 'wallet' }),
      ...formParams,
      ...keyParams,
      ...walletParams,
      signed: option.file('post the output of comment sign --out; - is stdin', {
        conflicts: ['file', 'signature', 'signer', 'last', ...typedKeys, ...signingKeys],
      }),
      file: option.text('post many, in order: NDJSON; - is stdin', { conflicts: ['signature', 'last', ...typedKeys] }),
    })
    .requests()
    .prints(views.post)
    .example(
      'comment post --chain base --tx 0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911 --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --text gm --key trader',
      'sign with a stored key (sotra key generate trader), and post',
    )
    .example('comment post gm --key trader --last', 'on the newest swap of the wallet of the key')
    .run(async (typed, context) => {
      const { postOne, postMany } = await import('./post.ts');
      const { file, ...input } = withText(typed);
      return file === undefined ? postOne(input, context) : postMany({ ...input, file }, context);
    });

  addEndpointCommand(comment, 'list', endpoints.list, {
    view: views.list,
    params: {
      hashes: { ...endpoints.list.params.hashes, kind: optional(endpoints.list.params.hashes.kind) },
      tx: local(optional(listOf(text())), 'same as <hash...>', { valueName: 'hash' }),
    },
    requireAnyOf: [['hashes', 'tx']],
    prepare: ({ hashes = [], tx = [], ...rest }) => {
      checkHashes('hashes', hashes, rest.chain);
      checkHashes('tx', tx, rest.chain);
      return { ...rest, hashes: [...hashes, ...tx] };
    },
  });

  addEndpointCommand(comment, 'copy', endpoints.copy, {
    view: views.copy,
    params: {
      trackExitUntil: option.text('track exits until this time, or for this long (up to 7d); hyperliquid only', {
        valueName: 'time',
      }),
    },
    requireAnyOf: [['actorAddress', 'actorAddresses']],
    prepare: readCopy,
  });

  comment
    .command('sign')
    .summary('Sign a comment without sending it')
    .description(
      `Needs no network and no API key. --file takes NDJSON with chain, transactionHash, tokenAddress and commentText.\n${keyWays}`,
    )
    .params({
      comment: textArgument,
      ...commentParams,
      ...formParams,
      ...keyParams,
      ...walletParams,
      signer: option.text('address that must sign; any other is an error', { takesAddress: 'wallet' }),
      file: option.text('sign many: NDJSON; - is stdin', { conflicts: typedKeys }),
      out: option.file('write the signed comment to this file'),
    })
    .changes()
    .shares('timeout')
    .prints(views.sign)
    .example(
      '--sandbox comment sign --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --dry-run',
      'the text that would be signed',
    )
    .example(
      'comment sign --chain hyperliquid --tx 52012345678 --token ETH --text gm --service-name Clicker --layout blank-line --dry-run --json',
      'the text for a perp order in another layout, as JSON',
    )
    .run(async (input, context) => (await import('./sign.ts')).runSign(withText(input), context));

  comment
    .command('verify')
    .summary('Check whether an address signed a comment')
    .description('Needs no network, no API key and no private key. The exit code is 12 if the signature is not valid.')
    .params({
      ...commentParams,
      signature: option.text('the signature'),
      signer: option.text('address that should have signed', { takesAddress: 'wallet' }),
      ...formParams,
      signed: option.file('check the output of comment sign --out; - is stdin', {
        conflicts: ['signature', 'signer', ...typedKeys],
      }),
    })
    .prints(views.verify)
    .example(
      '--sandbox comment verify --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --signature 0xd295006801756382610ed2ad14fdab264e0d366423790afa93134a437ff8a5543a335a95eebfef1dca0dc26ae12b9a8bef546f5d21ba94b1eda165bd5644b2901c --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      'a valid signature',
    )
    .run(async (input, context) => (await import('./sign.ts')).runVerify(input, context));
}

/** The comment as an argument. */
const textArgument = local(optional(endpoints.commentTextKind), 'the comment (or --text)', { positional: true });

/** The swap and the comment on it. None is required here: a file may hold them. */
const commentParams = {
  chain: local(optional(chainKind), 'chain of the swap'),
  transactionHash: option.text('transaction hash, or order id on hyperliquid', { flag: 'tx', valueName: 'hash' }),
  tokenAddress: option.text('contract address, mint, or coin on hyperliquid', { flag: 'token', takesAddress: 'token' }),
  commentText: local(
    optional(endpoints.commentTextKind),
    'the comment; --text=--json for one that looks like an option',
    {
      flag: 'text',
    },
  ),
  textFile: option.text('file with the comment, signed unchanged except for a BOM; - is stdin', {
    conflicts: ['commentText'],
  }),
};

/** Options that cannot be given with a file of comments. */
const typedKeys = Object.keys(commentParams);

const formParams = {
  serviceName: option.text("first word of the signed text (default: context's)"),
  layout: local(optional(choice(layouts)), "form of the signed text (default: context's, else five-line)"),
};

/** Ways to sign without giving a key. */
const walletParams = {
  signerCommand: option.text('command that signs for --signer (help signing)', {
    needs: 'signer',
    conflicts: ['passwordFile'],
  }),
  browser: option.flag('sign with a browser wallet, on a local page', { conflicts: ['passwordFile'] }),
  open: option.flag('with --browser: open the page in the browser', { needs: 'browser' }),
  readyFile: option.text('with --browser: write {ui, pid} to this file', { needs: 'browser' }),
};

/** Options that say how to sign; they cannot be given with a signed comment. */
const signingKeys = [...Object.keys(keyParams), 'signerCommand', 'browser'];

const keyWays =
  'The private key stays on this machine and is never an argument: --key, --key-file, --key-env, --key-stdin, or a hidden prompt. --browser and --signer-command sign without it.';

interface TextInput {
  comment?: string | undefined;
  commentText?: string | undefined;
  textFile?: string | undefined;
  signed?: string | undefined;
  file?: string | undefined;
}

/** The input with its argument as the text of the comment. Errors: `usage` if the text is given twice. */
function withText<Input extends TextInput>({ comment, ...input }: Input) {
  if (comment === undefined) return input;
  const { commentText, textFile, signed, file } = input;
  const others = { '--text': commentText, '--text-file': textFile, '--signed': signed, '--file': file };
  const [rival] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (rival === undefined) return { ...input, commentText: comment };
  throw usageError(`<comment> cannot be used with ${rival}`, 'Omit one of them.');
}

/** Errors: `usage`, naming the input. */
function checkHashes(key: string, hashes: readonly string[], chain: string): void {
  for (const hash of hashes) {
    const problem = transactionProblem(chain, hash);
    if (problem !== undefined) throw inputError((name) => ({ message: `${name(key)} ${hash}: ${problem}` }));
  }
}

type CopyInput = InputOf<(typeof endpoints.copy)['params']>;

/** The intent as it is sent: `7d` becomes the time 7 days from now. Errors: `usage`. */
function readCopy(typed: CopyInput, { io }: Pick<Context, 'io'>): CopyInput {
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
