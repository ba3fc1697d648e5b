import { checkBaseUrl, readOrigin } from '../../api/http-address.ts';
import { command } from '../../client/shell.ts';
import { type Context, createContext } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import {
  chosenContext,
  contextNames,
  findContext,
  type KeyStore,
  lastFour,
  presets,
  readEnv,
  readKeyOrigin,
  resolveService,
  type Service,
} from '../../lib/config/config.ts';
import { keychainProblem, removeFromKeychain, writeKeychain } from '../../lib/config/keychain.ts';
import type { StoredContext, StoredSettings } from '../../lib/config/settings.ts';
import { confirm, mayAsk, pick, showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/view.ts';
import { checkName } from '../context/index.ts';

/** A cheap request that shows whether a service answers and accepts the key. */
export const checkRequest = { method: 'GET', path: '/v2/leaderboard?limit=1' };

export type AuthStatus = ReturnType<typeof describeStatus> & { valid?: boolean };

export function describeStatus({ context, baseUrl, keySource, keySuffix, keyStore }: Service) {
  return { context: context ?? null, baseUrl, keySource, keySuffix, store: keyStore };
}

interface LoginInput {
  withKey?: boolean | undefined;
  offline?: boolean | undefined;
  store?: KeyStore | undefined;
}

/**
 * Stores the key of a context after the service accepted it, or makes the sandbox the current context. Errors: `usage` for what is missing
 * and cannot be asked for, `key-refused` and the other errors of a call (nothing is stored then), `config`, `locked`.
 */
export async function logIn(input: LoginInput, context: Context): Promise<Result> {
  const { options, io, note, warn } = context;
  const store = await context.config.settings();
  const chosen = await chooseTarget(context, store.read());
  if (chosen === undefined) return useSandbox(input, context);
  const { target, isNamed } = chosen;
  if (options.preview) return previewLogin(input, chosen, context);
  const key = await readKey(input, target, context);
  if (!input.offline) await verifyKey(key, target, context);
  const { keyStore, problem } = await chooseStore(input.store, target, context);
  if (keyStore === 'keychain') await writeKeychain(target, key, context);
  const stored = await store.update(io, (now) => ({
    ...withKey(now, target, key, keyStore),
    current: isNamed ? (now.current ?? target.name) : target.name,
  }));
  await removeFromKeychain(target.name, target.before, context, { keyStore, keyOrigin: target.origin });
  if (problem !== undefined) note(`No keychain is used: ${problem.replace(/\.$/, '')}.`);
  const place = keyStore === 'keychain' ? 'the keychain' : `${store.path} (mode 0600, unencrypted)`;
  note(`Stored the key for ${target.origin} in ${place}${input.offline ? ', unchecked' : ''}.`);
  printNext(target.name, stored, context);
  if (readEnv(io.env, 'SOTRA_API_KEY') !== undefined) warn('SOTRA_API_KEY is set and overrides the stored key');
  const answer: AuthStatus = {
    context: target.name,
    baseUrl: target.baseUrl,
    keySource: 'context',
    keySuffix: lastFour(key),
    store: keyStore,
    ...(input.offline ? {} : { valid: true }),
  };
  return { kind: 'answer', answer };
}

/** The context to store a key for. */
interface Target {
  name: string;
  baseUrl: string;
  origin: string;
  /** Its stored values. */
  before: StoredContext;
}

/**
 * The context to log in to, and whether it was named; `undefined` for the sandbox. Asks if nothing names a service. Errors: `usage`
 * without a terminal, for an unknown context, and for an address of another origin.
 */
async function chooseTarget(
  context: Context,
  stored: StoredSettings,
): Promise<{ target: Target; isNamed: boolean } | undefined> {
  const { sandbox, context: typed, baseUrl } = context.options;
  if (sandbox || typed === 'sandbox') return undefined;
  const name = chosenContext(context.options, context.io.env, stored);
  if (name !== undefined && name !== 'sandbox') return { target: findTarget(name, baseUrl, stored), isNamed: true };
  const address = baseUrl ?? (await askService(context));
  if (address === undefined) return undefined;
  const known = Object.keys(presets).find((each) => presets[each]?.baseUrl === checkBaseUrl(address));
  return { target: findTarget(known ?? suggestName(address), address, stored), isNamed: false };
}

/** The address of a service; `undefined` for the sandbox. */
async function askService(context: Context): Promise<string | undefined> {
  if (!mayAsk(context))
    throw usageError(
      'no service is chosen, and there is no terminal to ask on',
      'Name one: sotra auth login --sandbox, or --context clicker or --base-url https://..., with --with-key < key.txt.',
    );
  const services = Object.entries(presets).flatMap(([name, { baseUrl }]) =>
    baseUrl === undefined ? [] : [{ value: baseUrl, line: `${name}, at ${baseUrl}` }],
  );
  const choices = [
    { value: 'sandbox', line: 'the built-in sandbox: offline, without a key' },
    ...services,
    { value: 'other', line: 'another service' },
  ];
  const picked = await pick('Which service? Enter: the sandbox', choices, context.io);
  if (picked === undefined || picked === 'sandbox') return undefined;
  if (picked !== 'other') return picked;
  return checkBaseUrl((await context.io.ask('Its address (https://...): ', { hidden: false })).trim());
}

/** `https://api.example.com` as `example`. */
function suggestName(baseUrl: string): string {
  const { hostname } = new URL(checkBaseUrl(baseUrl));
  const labels = hostname.split('.').slice(0, -1);
  return /^[\d.]+$|^\[|^localhost$/.test(hostname) ? 'local' : (labels.at(-1) ?? hostname);
}

function findTarget(name: string, address: string | undefined, stored: StoredSettings): Target {
  const typed = address === undefined ? undefined : checkBaseUrl(address);
  const isNew = typed !== undefined && !contextNames(stored).includes(name);
  if (isNew) checkName(name);
  const baseUrl = checkBaseUrl((isNew ? typed : findContext(name, stored).baseUrl) ?? '');
  const origin = new URL(baseUrl).origin;
  if (typed !== undefined && readOrigin(typed) !== origin)
    throw usageError(
      `context ${name} is for ${origin}, not for ${readOrigin(typed)}`,
      command`Change it first: sotra context set ${name} --base-url ${typed}, or name another context.`,
    );
  return { name, baseUrl, origin, before: stored.contexts[name] ?? {} };
}

/** Makes the sandbox the current context. Errors: `usage` for an option that is about a key. */
async function useSandbox({ withKey, offline, store }: LoginInput, context: Context): Promise<Result> {
  const { options, io } = context;
  const [flag] = [withKey && '--with-key', offline && '--offline', store && '--store', options.curl && '--curl'].filter(
    Boolean,
  );
  if (flag !== undefined)
    throw usageError(
      `${flag}: the built-in sandbox has its own keys and stores none`,
      'Use another of them: SOTRA_API_KEY=sandbox-key-b sotra --sandbox ...',
    );
  const settings = await context.config.settings();
  if (options.dryRun) return showPlan([{ action: 'use', what: 'context sandbox', detail: settings.path }]);
  const stored = await settings.update(io, (now) => ({ ...now, current: 'sandbox' }));
  printNext('sandbox', stored, context);
  const service = resolveService({ sandbox: true, context: undefined, baseUrl: undefined }, {}, stored);
  return { kind: 'answer', answer: describeStatus(service) };
}

function printNext(name: string, { current }: StoredSettings, { io, note, warn }: Context): void {
  const { SOTRA_BASE_URL: baseUrl, SOTRA_CONTEXT: fromEnv } = io.env;
  const [variable] = [baseUrl && 'SOTRA_BASE_URL', fromEnv && fromEnv !== name && 'SOTRA_CONTEXT'].filter(Boolean);
  if (variable !== undefined) warn(`${variable} is set and overrides the current context`);
  if (current === name) note(`${name} is now the current context.`);
  const isInUse = current === name && variable === undefined;
  const option = isInUse ? '' : name === 'sandbox' ? ' --sandbox' : command` --context ${name}`;
  note(`Next: sotra leaderboard list --limit 5${option}`);
}

/** Shows the request that checks the key, and what would be stored after it. */
async function previewLogin(
  { offline, store }: LoginInput,
  { target, isNamed }: { target: Target; isNamed: boolean },
  context: Context,
): Promise<Result> {
  const { keyStore } = await chooseStore(store, target, context);
  const settings = await context.config.settings();
  const { current } = settings.read();
  const detail = keyStore === 'keychain' ? 'the keychain' : settings.path;
  const plan = [{ action: 'store', what: `API key of context ${target.name} for ${target.origin}`, detail }];
  if (current === undefined || (!isNamed && current !== target.name))
    plan.push({ action: 'use', what: `context ${target.name}`, detail: settings.path });
  if (offline) return showPlan(plan);
  for (const { action, what, detail: to } of plan) context.note(`Would then ${action} the ${what}: ${to}`);
  const asking = withKeyOf(target, 'not-asked-for', context);
  return { kind: 'request', request: await asking.client.previewRequest(checkRequest) };
}

async function readKey({ withKey }: LoginInput, { name, origin }: Target, { io, options }: Context): Promise<string> {
  if (withKey) {
    if (io.in.isTTY === true) throw usageError('--with-key reads from stdin', 'sotra auth login --with-key < key.txt');
    const { readText } = await import('../../lib/files/source.ts');
    return parseKey(await readText('-', io), 'stdin');
  }
  if (io.in.isTTY !== true || options.noInput)
    throw usageError(
      `cannot ask for the key: ${options.noInput ? '--no-input is set' : 'stdin is not a terminal'}`,
      command`Give it on stdin: sotra auth login --context ${name} --with-key < key.txt, or set SOTRA_API_KEY.`,
    );
  return parseKey(await io.ask(`API key for ${origin} (not shown): `, { hidden: true }), 'the answer');
}

const maxKeyLength = 64 * 1024;

function parseKey(text: string, from: string): string {
  const key = text.trim();
  if (key === '') throw usageError(`${from} holds no key`);
  if (key.length > maxKeyLength) throw usageError(`${from} holds more than 64 KB: not a key`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw usageError(`${from} holds more than a key: an API key is one word of ASCII characters`);
  return key;
}

/** Errors: those of a call, which say that the key was not stored. */
async function verifyKey(key: string, target: Target, context: Context): Promise<void> {
  const asking = withKeyOf(target, key, context);
  try {
    await asking.client.request(checkRequest);
  } catch (error) {
    if (!(error instanceof SotraError)) throw error;
    const { code, message, status, requestId } = error;
    const isRejected = code === 'key-refused' || code === 'forbidden';
    throw new SotraError(code, `${isRejected ? `${target.origin} rejected the key` : message}; it was not stored`, {
      hint: isRejected
        ? command`Check the key and the address: sotra context show ${target.name}.`
        : 'Store it without the check: add --offline.',
      cause: error,
      status,
      requestId,
    });
  } finally {
    await asking.client.close();
  }
}

/** A context that calls the service with this key, whatever environment and settings name. */
function withKeyOf({ baseUrl }: Target, key: string, context: Context): Context {
  const choice = { context: undefined, sandbox: false, baseUrl };
  const knownService = resolveService(choice, { SOTRA_API_KEY: key }, { contexts: {} });
  return createContext({ ...context, knownService, say: context.note });
}

/** Where to store the key, and the `problem` of the keychain if it cannot be used. */
async function chooseStore(
  typed: KeyStore | undefined,
  { name, baseUrl, before }: Target,
  context: Context,
): Promise<{ keyStore: KeyStore; problem?: string }> {
  const { keyStore = before.apiKey === undefined ? undefined : 'file' } = before;
  const known = typed ?? keyStore;
  if (known !== undefined) return { keyStore: known };
  const problem = await keychainProblem({ name, baseUrl }, context);
  return problem === undefined ? { keyStore: 'keychain' } : { keyStore: 'file', problem };
}

function withKey(
  now: StoredSettings,
  { name, baseUrl, origin }: Target,
  key: string,
  keyStore: KeyStore,
): StoredSettings {
  const isKnown = contextNames(now).includes(name);
  const kept = keyStore === 'file' ? { apiKey: key } : { keySuffix: lastFour(key) };
  const next = { ...withoutKey(now.contexts[name] ?? {}), ...(isKnown ? {} : { baseUrl }), ...kept, keyStore };
  return { ...now, contexts: { ...now.contexts, [name]: { ...next, keyOrigin: origin } } };
}

/** Errors: `usage` if no context is chosen or the answer is no; `config` if the keychain refuses. */
export async function logOut(context: Context): Promise<Result> {
  const { options, io, note, warn } = context;
  const store = await context.config.settings();
  const stored = store.read();
  const name = chosenContext(options, io.env, stored);
  if (name === undefined)
    throw usageError('no context is chosen', 'Name one with --context; sotra context list shows them.');
  const before = findContext(name, stored);
  if (readKeyOrigin(before) === undefined) note(`Context ${name} has no stored key.`);
  else {
    const place = before.keyStore === 'keychain' ? 'the keychain' : store.path;
    if (options.dryRun) return showPlan([{ action: 'remove', what: `API key of context ${name}`, detail: place }]);
    await confirm(`remove the API key of context ${name}`, context);
    await removeFromKeychain(name, before, context);
    await store.update(io, (now) => forgetKey(name, now));
    if (before.keyStore !== 'keychain') note(`Removed the key of context ${name} from ${store.path}.`);
  }
  if (readEnv(io.env, 'SOTRA_API_KEY') !== undefined) warn('SOTRA_API_KEY is still set and is used');
  return { kind: 'none' };
}

/** A preset with nothing else stored is no longer stored at all. */
function forgetKey(name: string, now: StoredSettings): StoredSettings {
  const { [name]: own = {}, ...others } = now.contexts;
  const kept = withoutKey(own);
  return { ...now, contexts: { ...others, ...(Object.keys(kept).length === 0 ? {} : { [name]: kept }) } };
}

function withoutKey({ apiKey: _, keyStore, keyOrigin, keySuffix, ...kept }: StoredContext): StoredContext {
  return kept;
}
