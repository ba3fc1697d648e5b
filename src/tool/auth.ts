import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { type Context, createContext } from '../context.ts';
import { type InputOf, local } from '../contract/endpoint.ts';
import { SotraError, usageError } from '../errors.ts';
import { checkBaseUrl } from '../model/http-address.ts';
import { column, recordView } from '../output/columns.ts';
import { showPlan } from '../output/confirm.ts';
import {
  contextNames,
  findContext,
  type KeyStore,
  keyOriginOf,
  keyStores,
  lastFour,
  originOf,
  readEnv,
  type Service,
  type StoredContext,
  type StoredSettings,
} from '../settings/settings.ts';
import { checkName, chosenName } from './context.ts';

const loginParams = {
  withKey: local(z.boolean().optional(), 'read the key from stdin: sotra auth login --with-key < key.txt'),
  offline: local(z.boolean().optional(), 'store the key without checking it'),
  store: local(
    z.enum(keyStores).optional(),
    'where to keep it; default: where the key of this context is kept now, or the settings file (mode 0600)',
  ),
};

const login = defineCommand({
  words: ['auth', 'login'],
  summary: 'Store an API key for a context',
  description:
    'Asks for the key without showing it, checks it with one small request (the first place of the leaderboard), and stores it for the\n' +
    "origin of the context's base URL: it is never sent anywhere else. With --base-url a new context is made at the same time.\n" +
    'Keys are never taken from arguments, where other users of the machine could read them.',
  params: loginParams,
  examples: [
    { argv: 'auth login --context clicker', says: 'asks for the key of the public deployment' },
    {
      argv: 'auth login --context staging --base-url https://staging.example.com --with-key --offline < key.txt',
      says: 'a new context with its key from a file',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, 4, 6, 7, 8, 9, 13],
  run: runLogin,
});

const logout = defineCommand({
  words: ['auth', 'logout'],
  summary: 'Remove the stored API key of a context',
  params: {},
  examples: [
    { argv: 'auth logout', says: 'of the current context' },
    { argv: 'auth logout --context staging', says: 'of another one' },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3],
  run: (_, context) => runLogout(context),
});

const status = defineCommand({
  words: ['auth', 'status'],
  summary: 'Which API key is used, where it comes from and where it is kept',
  description: 'Ends with exit code 4 when there is no key, and with --check when the service refuses it.',
  params: { check: local(z.boolean().optional(), 'check that the service accepts the key') },
  examples: [
    { argv: '--sandbox auth status', says: "the sandbox's own key" },
    { argv: '--sandbox auth status --check --json', says: 'as JSON, with the answer of the service' },
  ],
  uses: ['requests'],
  exitCodes: [3, 4, 6, 7, 8, 9, 13],
  view: async () => statusView,
  run: authStatus,
});

export const commands: readonly Command[] = [login, logout, status];

type Target = ReturnType<typeof findTarget>;

const maxKeyBytes = 64 * 1024;

/**
 * Stores a key for a context once the service accepted it. Errors: `usage` without a context or a readable key, `key-refused` and the
 * other errors of a call (nothing is stored then), `config`, `locked`.
 */
async function runLogin(input: InputOf<typeof loginParams>, context: Context): Promise<Result> {
  const store = await context.store();
  const target = findTarget(context, store.read());
  const keyStore = input.store ?? target.before.keyStore ?? 'file';
  const { dryRun, curl, preview } = context.options;
  if (input.offline && curl)
    throw usageError(
      '--offline and --curl contradict each other',
      'With --offline nothing is sent: there is no request to show.',
    );
  const place = { context: target.name, baseUrl: target.baseUrl };
  const where = keyStore === 'file' ? store.path : 'the keychain';
  if (input.offline && dryRun)
    return showPlan([
      { action: 'store', what: `API key of context ${target.name} for ${target.origin}`, detail: where },
    ]);
  const key = preview ? 'not-asked-for' : await readKey(input, target, context);
  if (!input.offline) await checkWithService(key, target, context);
  if (keyStore === 'keychain') await (await import('../settings/keychain.ts')).writeKeychain(place, key);
  let becameCurrent = false;
  await store.update(context.world, (now) => {
    becameCurrent = now.current === undefined;
    return { ...withKey(now, target, key, keyStore), current: now.current ?? target.name };
  });
  await dropFromKeychain(target.name, target.before, { keyStore, keyOrigin: target.origin }, context);
  context.note(`The key is stored in ${where} for ${target.origin}${input.offline ? ', unchecked' : ''}.`);
  if (becameCurrent) context.note(`${target.name} is now the current context.`);
  if (readEnv(context.world.env, 'SOTRA_API_KEY') !== undefined)
    context.warn('SOTRA_API_KEY is set and overrides the stored key');
  const status: AuthStatus = {
    context: target.name,
    baseUrl: target.baseUrl,
    keySource: 'context',
    keySuffix: lastFour(key),
    store: keyStore,
    ...(input.offline ? {} : { valid: true }),
  };
  return { kind: 'answer', answer: status, view: statusView };
}

async function runLogout(context: Context): Promise<Result> {
  const store = await context.store();
  const name = needName(context, store.read());
  const before = findContext(name, store.read());
  if (keyOriginOf(before) === undefined) context.note(`Context ${name} has no stored key.`);
  else if (context.options.dryRun) {
    const where = before.keyStore === 'keychain' ? 'the keychain' : store.path;
    return showPlan([{ action: 'remove', what: `API key of context ${name}`, detail: where }]);
  } else {
    await dropFromKeychain(name, before, {}, context);
    await store.update(context.world, (now) => {
      const { [name]: own = {}, ...others } = now.contexts;
      const kept = withoutKey(own);
      return { ...now, contexts: { ...others, ...(Object.keys(kept).length === 0 ? {} : { [name]: kept }) } };
    });
    if (before.keyStore !== 'keychain') context.note(`The key of context ${name} is removed from ${store.path}.`);
  }
  if (readEnv(context.world.env, 'SOTRA_API_KEY') !== undefined) context.warn('SOTRA_API_KEY is still set and is used');
  return { kind: 'none' };
}

function needName(context: Context, stored: StoredSettings): string {
  const name = chosenName(context, stored);
  if (name === 'sandbox')
    throw usageError(
      'the built-in sandbox has its own keys and stores none',
      'Use another of them: SOTRA_API_KEY=sandbox-key-b sotra --sandbox ...',
    );
  if (name !== undefined) return name;
  throw usageError(
    'no context is chosen',
    'Name one: sotra auth login --context clicker (the public deployment), or make one: sotra auth login --context <name> --base-url https://...',
  );
}

function findTarget(context: Context, stored: StoredSettings) {
  const name = needName(context, stored);
  const typed = context.options.baseUrl === undefined ? undefined : checkBaseUrl(context.options.baseUrl);
  const isNew = typed !== undefined && !contextNames(stored).includes(name);
  if (isNew) checkName(name);
  const baseUrl = checkBaseUrl((isNew ? typed : findContext(name, stored).baseUrl) ?? '');
  const origin = new URL(baseUrl).origin;
  if (typed !== undefined && originOf(typed) !== origin)
    throw usageError(
      `context ${name} is for ${origin}, not for ${originOf(typed)}`,
      `Change it first: sotra context set ${name} --base-url ${typed}, or name another context.`,
    );
  return { name, baseUrl, origin, before: stored.contexts[name] ?? {} };
}

async function readKey(
  { withKey }: InputOf<typeof loginParams>,
  { name, origin }: Target,
  { world, options }: Context,
): Promise<string> {
  if (withKey) {
    if (world.io.in.isTTY === true)
      throw usageError('--with-key reads from stdin', 'sotra auth login --with-key < key.txt');
    return readKeyText(await readStdin(world.io.in), 'stdin');
  }
  if (world.io.in.isTTY !== true || options.noInput)
    throw usageError(
      `cannot ask for the key: ${options.noInput ? '--no-input is set' : 'stdin is not a terminal'}`,
      `Give it on stdin: sotra auth login --context ${name} --with-key < key.txt, or set SOTRA_API_KEY.`,
    );
  return readKeyText(await world.io.ask(`API key for ${origin} (not shown): `, { hidden: true }), 'the answer');
}

async function readStdin(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > maxKeyBytes) throw usageError('stdin holds more than 64 KB: not a key');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readKeyText(text: string, from: string): string {
  const key = text.replace(/^\uFEFF/, '').trim();
  if (key === '') throw usageError(`${from} holds no key`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw usageError(
      `${from} holds more than a key: an API key is one word without spaces or characters outside ASCII`,
    );
  return key;
}

async function checkWithService(key: string, { name, baseUrl, origin }: Target, context: Context): Promise<void> {
  const { world, options, note } = context;
  const asking = createContext({
    ...context,
    world: { ...world, env: { SOTRA_API_KEY: key } },
    options: { ...options, context: undefined, sandbox: false, baseUrl },
    say: note,
  });
  try {
    await asking.request({ method: 'GET', path: checkPath });
  } catch (error) {
    if (!(error instanceof SotraError)) throw error;
    const refused = error.code === 'key-refused' || error.code === 'forbidden';
    throw new SotraError(error.code, `${refused ? `${origin} refuses this key` : error.message}; it was not stored`, {
      hint: refused
        ? `Check the key and the address: sotra context show ${name}.`
        : 'Store it without the check: add --offline.',
      cause: error,
      status: error.status,
      requestId: error.requestId,
    });
  } finally {
    await asking.close();
  }
}

function withKey(now: StoredSettings, target: Target, key: string, keyStore: KeyStore): StoredSettings {
  const { name, baseUrl, origin } = target;
  const context = withoutKey(now.contexts[name] ?? {});
  const isKnown = contextNames(now).includes(name);
  const held = keyStore === 'file' ? { apiKey: key } : { keySuffix: lastFour(key) };
  const next = { ...context, ...(isKnown ? {} : { baseUrl }), ...held, keyStore, keyOrigin: origin };
  return { ...now, contexts: { ...now.contexts, [name]: next } };
}

function withoutKey({ apiKey: _, keyStore, keyOrigin, keySuffix, ...kept }: StoredContext): StoredContext {
  return kept;
}

/** Removes a key that the settings do not point to any more. */
async function dropFromKeychain(name: string, before: StoredContext, after: StoredContext, context: Context) {
  if (before.keyStore !== 'keychain' || before.keyOrigin === undefined) return;
  if (after.keyStore === 'keychain' && after.keyOrigin === before.keyOrigin) return;
  await (await import('../settings/keychain.ts')).deleteKeychain({ context: name, baseUrl: before.keyOrigin });
  context.note(`The key ...${before.keySuffix ?? ''} for ${before.keyOrigin} is removed from the keychain.`);
}

interface AuthStatus {
  context: string | null;
  baseUrl: string | null;
  keySource: Service['keySource'];
  keySuffix: string | null;
  store: KeyStore | null;
  valid?: boolean;
}

const sources: Record<NonNullable<Service['keySource']>, string> = {
  SOTRA_API_KEY: 'the variable SOTRA_API_KEY',
  context: 'the context',
  sandbox: 'the built-in sandbox',
};

const statusView = recordView<AuthStatus>([
  column.text('context', 'Context', 'the context in use'),
  column.text('baseUrl', 'Base URL', 'address of the service'),
  column.text('keySuffix', 'Key', 'last four characters of the key', {
    show: ({ keySuffix }) => `...${keySuffix ?? ''}`,
  }),
  column.text('keySource', 'From', 'SOTRA_API_KEY, context or sandbox', {
    show: ({ keySource }) => (keySource === null ? '' : sources[keySource]),
  }),
  column.text('store', 'Kept in', 'file or keychain, for a stored key'),
  column.flag('valid', 'Valid', 'whether the service accepts the key; with --check', {
    show: ({ valid }) => (valid === undefined ? 'not checked' : valid ? 'yes' : 'no, the service refuses it'),
  }),
]);

/** The key in use and where it comes from. Errors: `key-missing` with the same facts as details; those of a call with `check`. */
async function authStatus({ check }: { check?: boolean | undefined }, context: Context): Promise<Result> {
  const service = await serviceOf(context);
  const status: AuthStatus = {
    context: service?.context ?? null,
    baseUrl: service?.baseUrl ?? null,
    keySource: service?.keySource ?? null,
    keySuffix: service?.apiKey ? lastFour(service.apiKey) : null,
    store: service?.keyStore ?? null,
  };
  if (service === undefined || service.apiKey === null) throw keyMissing(status, service);
  const notes = service.keyStore === 'file' ? [`The settings are in ${(await context.store()).path}.`] : [];
  if (!check) return { kind: 'answer', answer: status, view: statusView, notes };
  const valid = await isAccepted(context);
  return { kind: 'answer', answer: { ...status, valid }, view: statusView, notes, exitCode: valid ? 0 : 4 };
}

/** The service in use; `undefined` where nothing names one. */
export async function serviceOf(context: Context): Promise<Service | undefined> {
  try {
    return await context.service();
  } catch (error) {
    if (error instanceof SotraError && error.code === 'no-service') return undefined;
    throw error;
  }
}

function keyMissing(status: AuthStatus, service: Service | undefined): SotraError {
  const login = `sotra auth login --context ${status.context ?? '<name>'}`;
  if (service === undefined)
    return new SotraError('key-missing', 'no service is configured, so there is no API key', {
      hint: `Choose a service and store its key: ${login} --base-url https://...`,
      details: status,
    });
  const bound = service.keyRefusedFor === undefined ? '' : `; the stored one was saved for ${service.keyRefusedFor}`;
  return new SotraError('key-missing', `no API key for ${status.baseUrl}${bound}`, {
    hint: `Store one with ${login}, or set SOTRA_API_KEY.`,
    details: status,
  });
}

async function isAccepted(context: Context): Promise<boolean> {
  try {
    await context.request({ method: 'GET', path: checkPath });
    return true;
  } catch (error) {
    if (error instanceof SotraError && (error.code === 'key-refused' || error.code === 'forbidden')) return false;
    throw error;
  }
}

export const checkPath = '/v2/leaderboard?limit=1';
