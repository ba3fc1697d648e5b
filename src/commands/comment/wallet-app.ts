import { randomBytes } from 'node:crypto';
import {
  decodeHex,
  encodeBase58,
  isEvmAddress,
  isSolanaAddress,
  normalizeAddress,
  plainAddress,
} from '../../api/address.ts';
import { findFamily } from '../../api/chain.ts';
import { checksumAddress } from '../../api/checksum.ts';
import { isObject } from '../../api/json.ts';
import { showUnseen } from '../../api/safe-text.ts';
import { normalizeSignature } from '../../api/signed-text.ts';
import { type SignatureClaim, verifySignature } from '../../api/verify-signature.ts';
import { readMessage, SotraError, usageError } from '../../errors.ts';
import type { Io } from '../../lib/io.ts';
import { createLiveLog, type LiveLog } from '../../pages/live-log.ts';
import type { WebApp } from '../../pages/serve.ts';
import type { ChosenAccount, GivenSignature, WalletFacts, WalletState, WalletTrouble } from '../../pages/wallet.ts';

interface WalletOptions {
  facts: Omit<WalletFacts, 'state'>;
  /** How long each step of the user is waited for. */
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
export function createWalletApp({ facts, waitMs, io, note }: WalletOptions) {
  const log = createLiveLog();
  const stop = new AbortController();
  let state: WalletState = { account: null, outcomes: facts.texts.map(() => null), asked: null, end: null };
  const changeState = (part: Partial<WalletState>) => {
    state = { ...state, ...part };
    log.add('state', state);
  };
  const account = openStep<string>();
  const failure = openStep<never>();
  const gone = openStep<void>();
  failure.done.catch(() => undefined);
  let given = openStep<string>();
  const failSigning = (message: string, hint = again) =>
    failure.reject(new SotraError('signing-key', message, { hint }));

  /** Errors: `signing-key` for what the user or the wallet refused, `wait-timeout`, `interrupted`. */
  const wait = async <T>(step: Promise<T>, what: string): Promise<T> => {
    const waiting = new AbortController();
    const late = io.sleep(waitMs, AbortSignal.any([waiting.signal, io.signal])).then(
      () => {
        const hint = `${again} --timeout <time> waits longer.`;
        throw new SotraError('wait-timeout', `${what} on the page within ${waitMs / 1000} s`, { hint });
      },
      () => {
        throw new SotraError('interrupted', `interrupted: ${what}`);
      },
    );
    try {
      return await Promise.race([step, failure.done, late]);
    } finally {
      waiting.abort();
    }
  };

  let pages = 0;
  const left = async () => {
    pages -= 1;
    if (pages > 0) return;
    if (state.end !== null) return gone.resolve();
    await io.sleep(awayMs, stop.signal).catch(() => undefined);
    if (pages === 0) failSigning('the page was closed before everything was signed');
  };
  const live: LiveLog = {
    add: log.add,
    read: async function* (lastId, signal) {
      pages += 1;
      try {
        yield* log.read(lastId, signal);
      } finally {
        left().catch(failure.reject);
      }
    },
  };

  const chooseAccount = async (body: unknown): Promise<WalletState> => {
    const { address } = readFields<ChosenAccount>(body);
    const isOfFamily = facts.family === 'evm' ? isEvmAddress : isSolanaAddress;
    const name = facts.family === 'evm' ? 'an EVM address' : 'a Solana address';
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
      account.resolve(chosen);
    }
    return state;
  };
  const takeSignature = async (body: unknown): Promise<WalletState> => {
    const { id, signature, accounts } = readFields<GivenSignature>(body);
    const text = state.asked?.id === id ? facts.texts[state.asked?.index ?? -1] : undefined;
    if (text === undefined || state.account === null)
      throw usageError('this text is already signed, or the page is from an earlier run');
    const claim = { chain: text.chain, message: text.message, signerAddress: state.account };
    try {
      const others = Array.isArray(accounts) ? accounts.map(String) : [];
      const accepted = await acceptSignature({ ...claim, signature: String(signature), accounts: others });
      changeState({ asked: null });
      given.resolve(accepted);
    } catch (thrown) {
      changeState({ asked: null });
      failure.reject(thrown);
      throw thrown;
    }
    return state;
  };
  const stopSigning = async (body: unknown): Promise<WalletState> => {
    const { kind, text } = readFields<WalletTrouble>(body);
    const said = showUnseen(String(text)).slice(0, 300);
    if (kind === 'problem') note(`The page says: ${said}`);
    else if (kind === 'cancelled') failSigning('cancelled on the page');
    else failSigning(kind === 'refused' ? 'refused in the wallet' : `the wallet failed: ${said}`);
    return state;
  };

  const app: WebApp = {
    name: 'wallet',
    title: 'Sign with your wallet · sotra',
    live,
    routes: {
      'GET facts': async (): Promise<WalletFacts> => ({ ...facts, state }),
      'POST account': (_, body) => chooseAccount(body),
      'POST signature': (_, body) => takeSignature(body),
      'POST trouble': (_, body) => stopSigning(body),
    },
  };
  return {
    app,
    /** The account that the user chose. Errors: as in `wait`. */
    account: () => wait(account.done, 'no account was chosen'),
    /** The signature over one of the texts, verified. Errors: as in `wait`; those of `acceptSignature`. */
    sign: async (message: string): Promise<string> => {
      const index = facts.texts.findIndex((text) => text.message === message);
      given = openStep();
      changeState({ asked: { index, id: randomBytes(16).toString('hex') } });
      const signature = await wait(given.done, `text ${index + 1} of ${facts.texts.length} was not signed`);
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
      if (pages > 0) await Promise.race([gone.done, io.sleep(leaveMs, stop.signal)]);
      stop.abort();
    },
  };
}

const doneTexts: Readonly<Record<WalletFacts['purpose'], string>> = {
  post: 'Signed and posted.',
  show: 'Signed. The command shows the request and sends nothing.',
  sign: 'Signed. The command has the signature.',
};

/** A page of ours sends these; anything else is checked where it is used. */
function readFields<T>(body: unknown): Partial<T> {
  return isObject(body) ? (body as Partial<T>) : {};
}

/** What somebody does later. */
function openStep<T>() {
  let settle: { resolve: (value: T) => void; reject: (thrown: unknown) => void } | undefined;
  const done = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    done,
    resolve: (value: T) => settle?.resolve(value),
    reject: (thrown: unknown) => settle?.reject(thrown),
  };
}

/** What a wallet was asked to sign, and gave: `0x` and hex digits; `accounts` are all that it offered. */
type WalletClaim = Omit<SignatureClaim, 'encoding'> & { accounts: readonly string[] };

/** How the signature of an account ends whose contract is not deployed yet. Source: ERC-6492. */
const wrapped = '6492'.repeat(16);
const notTaken = 'Only signatures of ordinary accounts are accepted: choose one in the wallet.';

/** A wallet's signature as the service takes it. Errors: `signing-key` saying why it is not the signature of an ordinary account. */
async function acceptSignature(claim: WalletClaim): Promise<string> {
  const family = findFamily(claim.chain);
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(claim.signature)) throw refuseSignature('the wallet gave no signature');
  return family === 'solana' ? acceptSolana(claim) : acceptEvm(claim);
}

async function acceptEvm({ accounts, signature: given, ...claim }: WalletClaim): Promise<string> {
  const { signerAddress: address } = claim;
  const contract = `account ${address} is a smart contract:`;
  if (given.toLowerCase().endsWith(wrapped))
    throw refuseSignature(`${contract} it is not deployed, so its signature is wrapped (ERC-6492)`, notTaken);
  const bytes = given.length / 2 - 1;
  if (bytes !== 65) throw refuseSignature(`${contract} its signature (EIP-1271) has ${bytes} bytes, not 65`, notTaken);
  const signature = normalizeSignature(claim.chain, given);
  const { valid, recoveredAddress, reason } = await verifySignature({ ...claim, signature });
  if (valid) return signature;
  if (recoveredAddress !== undefined && accounts.some((each) => each.toLowerCase() === recoveredAddress.toLowerCase()))
    throw refuseSignature(
      `the wallet signed with ${recoveredAddress}, not with ${address}`,
      'Choose that account on the page.',
    );
  const either = `${address} is a smart contract (EIP-1271), or the wallet signed another text`;
  throw refuseSignature(`the signature does not verify: ${reason}. Either ${either}`, notTaken);
}

async function acceptSolana(claim: WalletClaim): Promise<string> {
  const signature = encodeBase58(decodeHex(claim.signature));
  const { valid, reason } = await verifySignature({ ...claim, signature, encoding: 'base58' });
  if (valid) return signature;
  throw refuseSignature(
    `the signature does not verify: ${reason}. The wallet signed another text, or with another account`,
  );
}

function refuseSignature(message: string, hint?: string): SotraError {
  return new SotraError('signing-key', `${message}; it was not used`, { hint });
}
