import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import {
  decodeHex,
  encodeBase58,
  isEvmAddress,
  isSolanaAddress,
  normalizeAddress,
  plainAddress,
} from '../../api/address.ts';
import { type ChainFamily, findFamily } from '../../api/chain.ts';
import { checksumAddress } from '../../api/checksum.ts';
import { list } from '../../api/comment.ts';
import { isObject } from '../../api/json.ts';
import { showUnseen } from '../../api/safe-text.ts';
import { normalizeSignature, type TextFields, type TextForm } from '../../api/signed-text.ts';
import { type SignatureClaim, verifySignature } from '../../api/verify-signature.ts';
import { curlLine } from '../../client/preview.ts';
import { command, flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, usageError } from '../../errors.ts';
import { writeReadyFiles } from '../../lib/files/durable-file.ts';
import type { Io } from '../../lib/io.ts';
import { createLiveLog, type LiveLog } from '../../pages/live-log.ts';
import { type PageInput, servePage, showAddress, type WebApp } from '../../pages/serve.ts';
import type { ShownCommand, WalletFacts, WalletState } from '../../pages/wallet.ts';
import { type CommentLine, previewText } from './comment-text.ts';
import { nameDestination } from './send-comment.ts';

/** The comments that the user signs on the page. */
export interface WalletSigning {
  lines: readonly Pick<CommentLine, 'line' | 'fields'>[];
  form: TextForm;
  family: ChainFamily;
  purpose: WalletFacts['purpose'];
  way: PageInput & { signer?: string | undefined };
}

const defaultWaitMs = 600_000;
/** The user confirms each by hand. */
const maxTexts = 200;

/**
 * Serves the page and resolves when the user has chosen an account; only texts that the page shows can be signed. Errors: `usage` for too many
 * texts; `signing-key`, `wait-timeout` and `interrupted`, here and from `sign`, if the user refused, did nothing or left.
 */
export async function openWalletPage(signing: WalletSigning, context: Context) {
  const { lines, way } = signing;
  const { io, note, warn, options } = context;
  if (lines.length > maxTexts)
    throw usageError(
      `--browser signs at most ${maxTexts} comments; this is ${lines.length}`,
      'Split the file, or sign with a key.',
    );
  const facts = await readWalletFacts(signing, context);
  const waitMs = options.typedTimeoutMs ?? defaultWaitMs;
  const page = createWalletApp({ facts, waitMs, io, note });
  const server = await servePage(page.app, warn);
  let removeReadyFile = () => {};
  const close = async (thrown?: unknown) => {
    await page.end(thrown);
    await server.close();
    removeReadyFile();
  };
  try {
    removeReadyFile = writeReadyFiles([way.readyFile], { ui: server.url, pid: io.pid });
    await showAddress(server, way, context);
    note(`Waiting for your wallet on the page, ${waitMs / 1000} s a step. Press Ctrl-C to stop.`);
    const address = await page.account();
    note(`The wallet signs as ${address}.`);
    return { address, sign: page.sign, show: page.show, close };
  } catch (thrown) {
    await close(thrown);
    throw thrown;
  }
}

async function readWalletFacts(
  { lines, form, family, purpose, way }: WalletSigning,
  context: Context,
): Promise<Omit<WalletFacts, 'state'>> {
  const service = purpose === 'sign' ? undefined : await context.config.service();
  const isSandbox = service?.kind === 'sandbox';
  return {
    purpose,
    serviceName: form.serviceName,
    destination: service === undefined ? null : nameDestination(service),
    family,
    signer: way.signer ?? null,
    texts: await Promise.all(
      lines.map(async ({ line, fields }) => {
        const { layout: _, serviceName: __, ...shown } = previewText(fields, form);
        const curl = purpose === 'sign' || isSandbox ? [] : [await writeCurl(fields, context)];
        const commands = [...writeCommands(fields, form, isSandbox), ...curl];
        return { line, ...shown, bytes: Buffer.byteLength(shown.message), commands };
      }),
    ),
  };
}

/** The request for the comments on a swap. */
async function writeCurl({ chain, transactionHash }: TextFields, context: Context): Promise<ShownCommand> {
  const request = await context.client.previewCall(list, { hashes: [transactionHash], chain });
  return { name: 'As curl', line: curlLine(request).trim() };
}

function writeCommands(fields: TextFields, { serviceName, layout }: TextForm, isSandbox: boolean): ShownCommand[] {
  const { chain, tokenAddress, transactionHash, commentText } = fields;
  const sotra = isSandbox ? 'sotra --sandbox' : 'sotra';
  const swap = command`--chain ${chain} --tx ${transactionHash} --token ${tokenAddress}`;
  const form = command`--service-name ${serviceName} --layout ${layout}`;
  const text = shellLine(flagWords('--text', commentText));
  return [
    { name: 'This text', line: `${sotra} comment sign ${swap} ${text} ${form} --dry-run` },
    { name: 'Comments on it', line: `${sotra} ${command`comment list ${transactionHash} --chain ${chain}`}` },
  ];
}

interface WalletOptions {
  facts: Omit<WalletFacts, 'state'>;
  /** How long to wait for each step of the user. */
  waitMs: number;
  io: Io;
  note: (text: string) => void;
}

/** A page that reloads is disconnected for a moment. */
const awayMs = 4000;
/** How long pages have to receive the last message. */
const leaveMs = 1000;
const again = 'Run the same command again.';

/** The page on which a user signs texts with a wallet, one after the other. */
function createWalletApp({ facts, waitMs, io, note }: WalletOptions) {
  const log = createLiveLog(0);
  const steps = new EventEmitter<{ account: [string]; signature: [string]; left: [] }>();
  const failed = new AbortController();
  const closed = new AbortController();
  let state: WalletState = { account: null, outcomes: facts.texts.map(() => null), asked: null, end: null };
  const changeState = (part: Partial<WalletState>) => {
    state = { ...state, ...part };
    log.add('state', state);
  };
  const fail = (message: string) => failed.abort(new SotraError('signing-key', message, { hint: again }));

  /** Errors: `signing-key` for what the user or the wallet refused, `wait-timeout`, `interrupted`. */
  const waitFor = async (step: 'account' | 'signature', missing: string): Promise<string> => {
    const late = AbortSignal.timeout(waitMs);
    try {
      const [value] = await once(steps, step, { signal: AbortSignal.any([late, failed.signal, io.signal]) });
      return value;
    } catch {
      if (failed.signal.aborted) throw failed.signal.reason;
      if (io.signal.aborted) throw new SotraError('interrupted', `interrupted: ${missing}`);
      const hint = `${again} --timeout <time> waits longer.`;
      throw new SotraError('wait-timeout', `${missing} on the page within ${waitMs / 1000} s`, { hint });
    }
  };

  let pages = 0;
  const leave = async () => {
    pages -= 1;
    if (pages > 0) return;
    steps.emit('left');
    await io.sleep(awayMs, closed.signal).catch(() => undefined);
    if (pages === 0 && state.end === null) fail('the page was closed before everything was signed');
  };
  const live: LiveLog = {
    ...log,
    read: async function* (signal) {
      pages += 1;
      try {
        yield* log.read(signal);
      } finally {
        void leave();
      }
    },
  };

  const chooseAccount = async (body: unknown): Promise<WalletState> => {
    const { address } = readBody(body);
    const [isOfFamily, name] =
      facts.family === 'evm' ? [isEvmAddress, 'an EVM address'] : [isSolanaAddress, 'a Solana address'];
    if (typeof address !== 'string' || !isOfFamily(address))
      throw usageError(`account ${showUnseen(String(address)).slice(0, 80)}: must be ${name}`);
    const chosen = facts.family === 'evm' ? checksumAddress(address.slice(2)) : address;
    const wanted = facts.signer ?? state.account;
    if (wanted !== null && normalizeAddress(plainAddress(wanted)) !== normalizeAddress(chosen)) {
      const why = facts.signer === null ? 'this run signs with' : '--signer asks for';
      note(`The page offered ${chosen}; ${why} ${wanted}.`);
      throw usageError(`account ${chosen}: ${why} ${wanted}`, 'Choose that account in the wallet');
    }
    if (state.account === null) {
      changeState({ account: chosen });
      steps.emit('account', chosen);
    }
    return state;
  };
  const takeSignature = async (body: unknown): Promise<WalletState> => {
    const { id, signature } = readBody(body);
    const text = state.asked?.id === id ? facts.texts[state.asked?.index ?? -1] : undefined;
    if (text === undefined || state.account === null)
      throw usageError('this text is already signed, or the page is from an earlier run');
    const { chain, message } = text;
    const claim = { chain, message, signature: String(signature), signerAddress: state.account };
    changeState({ asked: null });
    try {
      steps.emit('signature', await acceptSignature(claim));
    } catch (thrown) {
      failed.abort(thrown);
      throw thrown;
    }
    return state;
  };
  const stopSigning = async (body: unknown): Promise<WalletState> => {
    const { kind, text } = readBody(body);
    const shown = showUnseen(String(text)).slice(0, 300);
    if (kind === 'problem') note(`The page says: ${shown}`);
    else if (kind === 'cancelled') fail('cancelled on the page');
    else fail(kind === 'refused' ? 'refused in the wallet' : `the wallet failed: ${shown}`);
    return state;
  };

  const app: WebApp = {
    name: 'wallet',
    title: 'Sign with your wallet · sotra',
    live,
    load: async (): Promise<WalletFacts> => ({ ...facts, state }),
    routes: {
      'POST account': (_, body) => chooseAccount(body),
      'POST signature': (_, body) => takeSignature(body),
      'POST trouble': (_, body) => stopSigning(body),
    },
  };
  return {
    app,
    /** The account that the user chose. Errors: as in `waitFor`. */
    account: async () => state.account ?? waitFor('account', 'no account was chosen'),
    /** The signature over one of the texts, verified. Errors: as in `waitFor`; those of `acceptSignature`. */
    sign: async (message: string): Promise<string> => {
      const index = facts.texts.findIndex((text) => text.message === message);
      const given = waitFor('signature', `text ${index + 1} of ${facts.texts.length} was not signed`);
      changeState({ asked: { index, id: randomBytes(16).toString('hex') } });
      const signature = await given;
      changeState({ outcomes: state.outcomes.with(index, 'signed') });
      return signature;
    },
    show: (line: number, outcome: string) =>
      changeState({
        outcomes: state.outcomes.map((before, index) => (facts.texts[index]?.line === line ? outcome : before)),
      }),
    /** Tells the pages how it ended; resolves when they know. */
    end: async (thrown: unknown): Promise<void> => {
      const ok = thrown === undefined;
      const hint = thrown instanceof SotraError && thrown.hint !== undefined ? ` ${thrown.hint}` : '';
      changeState({ asked: null, end: { ok, text: ok ? doneTexts[facts.purpose] : `${readMessage(thrown)}.${hint}` } });
      if (pages > 0) await once(steps, 'left', { signal: AbortSignal.timeout(leaveMs) }).catch(() => undefined);
      closed.abort();
    },
  };
}

const doneTexts: Readonly<Record<WalletFacts['purpose'], string>> = {
  post: 'Signed and posted.',
  show: 'Signed. The command shows the request and sends nothing.',
  sign: 'Signed. The command has the signature.',
};

/** The fields that our page sends; each is checked where it is used. */
function readBody(body: unknown): Readonly<Record<string, unknown>> {
  return isObject(body) ? body : {};
}

/** A wallet's signature (`0x` and hex digits) as the service takes it. Errors: `signing-key` saying why it is not the signature of an ordinary account. */
async function acceptSignature(claim: SignatureClaim): Promise<string> {
  const { chain, signature: given, signerAddress } = claim;
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(given)) throw refuseSignature('the wallet gave no signature');
  const isSolana = findFamily(chain) === 'solana';
  const bytes = given.length / 2 - 1;
  if (!isSolana && bytes !== 65)
    throw refuseSignature(
      `account ${signerAddress} is a smart contract: its signature (EIP-1271 or ERC-6492) has ${bytes} bytes, not 65`,
      'Only signatures of ordinary accounts are accepted: choose one in the wallet.',
    );
  const signature = isSolana ? encodeBase58(decodeHex(given)) : normalizeSignature(chain, given);
  const { valid, reason } = await verifySignature({ ...claim, signature, encoding: 'base58' });
  if (valid) return signature;
  throw refuseSignature(
    `the signature does not verify: ${reason}. The wallet signed another text, or with another account`,
  );
}

function refuseSignature(message: string, hint?: string): SotraError {
  return new SotraError('signing-key', `${message}; it was not used`, { hint });
}
