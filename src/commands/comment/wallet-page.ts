import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { isEvmAddress, isSolanaAddress, normalizeAddress, plainAddress } from '../../api/address.ts';
import { type ChainFamily, findFamily } from '../../api/chain.ts';
import { checksumAddress } from '../../api/checksum.ts';
import { list } from '../../api/comment.ts';
import { isObject } from '../../api/json.ts';
import { showUnseen } from '../../api/safe-text.ts';
import type { TextFields, TextForm } from '../../api/signed-text.ts';
import { normalizeSignature, type SignatureClaim, verifySignature } from '../../api/verify-signature.ts';
import { curlLine } from '../../client/preview.ts';
import { command, flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, usageError } from '../../errors.ts';
import { writeReadyFiles } from '../../lib/files/durable-file.ts';
import { createLiveLog, type LiveLog, type PageInput, servePage, showAddress, type WebApp } from '../../pages/serve.ts';
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
  const waitMs = options.typedTimeoutMs ?? defaultWaitMs;
  const page = makeWalletPage(await readWalletFacts(signing, context), waitMs, context);
  const server = await servePage(makeApp(page), warn);
  let removeReadyFile = () => {};
  const close = async (thrown?: unknown) => {
    await endPage(page, thrown);
    await server.close();
    removeReadyFile();
  };
  try {
    removeReadyFile = writeReadyFiles([way.readyFile], { ui: server.url, pid: io.pid });
    await showAddress(server, way, context);
    note(`Waiting for your wallet on the page, ${waitMs / 1000} s a step. Press Ctrl-C to stop.`);
    const address = page.state.account ?? (await waitFor(page, 'account', 'no account was chosen'));
    note(`The wallet signs as ${address}.`);
    return {
      address,
      sign: (message: string) => signText(page, message),
      show: (line: number, outcome: string) => showOutcome(page, line, outcome),
      close,
    };
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
    signer: way.signer === undefined ? null : plainAddress(way.signer),
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

/** The page on which a user signs texts with a wallet, one after the other. */
interface WalletPage {
  facts: Omit<WalletFacts, 'state'>;
  state: WalletState;
  /** How long to wait for each step of the user. */
  waitMs: number;
  context: Context;
  log: LiveLog;
  steps: EventEmitter<{ account: [string]; signature: [string]; left: [] }>;
  /** How many browsers show it. */
  viewers: number;
  failed: AbortController;
  closed: AbortController;
}

/** A page that reloads is disconnected for a moment. */
const awayMs = 4000;
/** How long pages have to receive the last message. */
const leaveMs = 1000;
const again = 'Run the same command again.';

function makeWalletPage(facts: WalletPage['facts'], waitMs: number, context: Context): WalletPage {
  return {
    facts,
    state: { account: null, outcomes: facts.texts.map(() => null), asked: null, end: null },
    waitMs,
    context,
    log: createLiveLog(0),
    steps: new EventEmitter(),
    viewers: 0,
    failed: new AbortController(),
    closed: new AbortController(),
  };
}

function makeApp(page: WalletPage): WebApp {
  type Act = (page: WalletPage, body: Body) => WalletState | Promise<WalletState>;
  const route = (act: Act) => async (_: unknown, body: unknown) => act(page, isObject(body) ? body : {});
  return {
    name: 'wallet',
    title: 'Sign with your wallet · sotra',
    live: { ...page.log, read: (signal) => watchViewer(page, signal) },
    load: async (): Promise<WalletFacts> => ({ ...page.facts, state: page.state }),
    routes: {
      'POST account': route(chooseAccount),
      'POST signature': route(takeSignature),
      'POST trouble': route(stopSigning),
    },
  };
}

/** The fields that our page sends; each is checked where it is used. */
type Body = Readonly<Record<string, unknown>>;

function changeState(page: WalletPage, part: Partial<WalletState>): void {
  page.state = { ...page.state, ...part };
  page.log.add('state', page.state);
}

function fail({ failed }: WalletPage, message: string): void {
  failed.abort(new SotraError('signing-key', message, { hint: again }));
}

/** Errors: `signing-key` for what the user or the wallet refused, `wait-timeout`, `interrupted`. */
async function waitFor(page: WalletPage, step: 'account' | 'signature', missing: string): Promise<string> {
  const { steps, failed, waitMs } = page;
  const { signal } = page.context.io;
  try {
    const ends = [AbortSignal.timeout(waitMs), failed.signal, signal];
    const [value] = await once(steps, step, { signal: AbortSignal.any(ends) });
    return value;
  } catch {
    if (failed.signal.aborted) throw failed.signal.reason;
    if (signal.aborted) throw new SotraError('interrupted', `interrupted: ${missing}`);
    const hint = `${again} --timeout <time> waits longer.`;
    throw new SotraError('wait-timeout', `${missing} on the page within ${waitMs / 1000} s`, { hint });
  }
}

/** The entries for a browser that shows the page; once the last one is gone, signing fails. */
async function* watchViewer(page: WalletPage, signal: AbortSignal) {
  page.viewers += 1;
  try {
    yield* page.log.read(signal);
  } finally {
    void leave(page);
  }
}

async function leave(page: WalletPage): Promise<void> {
  page.viewers -= 1;
  if (page.viewers > 0) return;
  page.steps.emit('left');
  await page.context.io.sleep(awayMs, page.closed.signal).catch(() => undefined);
  if (page.viewers === 0 && page.state.end === null) fail(page, 'the page was closed before everything was signed');
}

function chooseAccount(page: WalletPage, { address }: Body): WalletState {
  const { facts, state } = page;
  const [isOfFamily, name] =
    facts.family === 'evm' ? [isEvmAddress, 'an EVM address'] : [isSolanaAddress, 'a Solana address'];
  if (typeof address !== 'string' || !isOfFamily(address))
    throw usageError(`account ${showUnseen(String(address)).slice(0, 80)}: must be ${name}`);
  const chosen = facts.family === 'evm' ? checksumAddress(address.slice(2)) : address;
  const wanted = facts.signer ?? state.account;
  if (wanted !== null && normalizeAddress(wanted) !== normalizeAddress(chosen)) {
    const why = facts.signer === null ? 'this run signs with' : '--signer asks for';
    page.context.note(`The page offered ${chosen}; ${why} ${wanted}.`);
    throw usageError(`account ${chosen}: ${why} ${wanted}`, 'Choose that account in the wallet');
  }
  if (state.account !== null) return state;
  changeState(page, { account: chosen });
  page.steps.emit('account', chosen);
  return page.state;
}

async function takeSignature(page: WalletPage, { id, signature }: Body): Promise<WalletState> {
  const { asked, account } = page.state;
  const text = asked?.id === id ? page.facts.texts[asked?.index ?? -1] : undefined;
  if (text === undefined || account === null)
    throw usageError('this text is already signed, or the page is from an earlier run');
  const { chain, message } = text;
  changeState(page, { asked: null });
  try {
    const claim = { chain, message, signature: String(signature), signerAddress: account };
    page.steps.emit('signature', await acceptSignature(claim));
  } catch (thrown) {
    page.failed.abort(thrown);
    throw thrown;
  }
  return page.state;
}

function stopSigning(page: WalletPage, { kind, text }: Body): WalletState {
  const shown = showUnseen(String(text)).slice(0, 300);
  if (kind === 'problem') page.context.note(`The page says: ${shown}`);
  else if (kind === 'cancelled') fail(page, 'cancelled on the page');
  else fail(page, kind === 'refused' ? 'refused in the wallet' : `the wallet failed: ${shown}`);
  return page.state;
}

/** The signature over one of the texts, verified. Errors: as in `waitFor`; those of `acceptSignature`. */
async function signText(page: WalletPage, message: string): Promise<string> {
  const { texts } = page.facts;
  // A file may have a text twice.
  const index = texts.findIndex((text, at) => text.message === message && page.state.outcomes[at] === null);
  const given = waitFor(page, 'signature', `text ${index + 1} of ${texts.length} was not signed`);
  changeState(page, { asked: { index, id: randomBytes(16).toString('hex') } });
  const signature = await given;
  changeState(page, { outcomes: page.state.outcomes.with(index, 'signed') });
  return signature;
}

function showOutcome(page: WalletPage, line: number, outcome: string): void {
  const index = page.facts.texts.findIndex((text) => text.line === line);
  if (index !== -1) changeState(page, { outcomes: page.state.outcomes.with(index, outcome) });
}

/** Tells the browsers how it ended; resolves when they know. */
async function endPage(page: WalletPage, thrown: unknown): Promise<void> {
  const hint = thrown instanceof SotraError && thrown.hint !== undefined ? ` ${thrown.hint}` : '';
  const text = thrown === undefined ? doneTexts[page.facts.purpose] : `${readMessage(thrown)}.${hint}`;
  changeState(page, { asked: null, end: { ok: thrown === undefined, text } });
  if (page.viewers > 0) await once(page.steps, 'left', { signal: AbortSignal.timeout(leaveMs) }).catch(() => undefined);
  page.closed.abort();
}

const doneTexts: Readonly<Record<WalletFacts['purpose'], string>> = {
  post: 'Signed and posted.',
  show: 'Signed. The command shows the request and sends nothing.',
  sign: 'Signed. The command has the signature.',
};

/** A wallet's signature (`0x` and hex digits) as the service takes it. Errors: `signing-key` saying why it is not the signature of an ordinary account. */
async function acceptSignature(claim: SignatureClaim): Promise<string> {
  const { chain, signature: given, signerAddress } = claim;
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(given)) throw refuseSignature('the wallet gave no signature');
  const bytes = given.length / 2 - 1;
  if (findFamily(chain) === 'evm' && bytes !== 65)
    throw refuseSignature(
      `account ${signerAddress} is a smart contract: its signature (EIP-1271 or ERC-6492) has ${bytes} bytes, not 65`,
      'Only signatures of ordinary accounts are accepted: choose one in the wallet.',
    );
  const signature = normalizeSignature(chain, given);
  const { valid, reason } = await verifySignature({ ...claim, signature, encoding: 'base58' });
  if (valid) return signature;
  throw refuseSignature(
    `the signature does not verify: ${reason}. The wallet signed another text, or with another account`,
  );
}

function refuseSignature(message: string, hint?: string): SotraError {
  return new SotraError('signing-key', `${message}; it was not used`, { hint });
}
