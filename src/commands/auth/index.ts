import { type InputOf, local } from '../../api/endpoint.ts';
import { choice, optional } from '../../api/kind.ts';
import { type Command, defineCommand, option, type Result } from '../../cli/command.ts';
import { serviceExitCodes } from '../../cli/endpoint-command.ts';
import { type Context, createContext } from '../../context.ts';
import { orUndefined, readMessage, SotraError, usageError } from '../../errors.ts';
import { decodeText, readWhole } from '../../files/source.ts';
import { checkBaseUrl } from '../../model/http-address.ts';
import { safeText } from '../../model/safe-text.ts';
import { command } from '../../model/shell.ts';
import { column, recordView } from '../../output/columns.ts';
import { mayAsk, showPlan } from '../../output/confirm.ts';
import { pick } from '../../output/pick.ts';
import {
  chosenContext,
  contextNames,
  findContext,
  type KeyStore,
  keyStores,
  lastFour,
  presets,
  readEnv,
  readKeyOrigin,
  readOrigin,
  resolveService,
  type Service,
  type StoredContext,
  type StoredSettings,
} from '../../setup/settings.ts';
import { checkName } from '../context/index.ts';

const loginParams = {
  withKey: option.flag('read the key from stdin: sotra auth login --with-key < key.txt'),
  offline: option.flag('store the key without checking it'),
  store: local(
    optional(choice(keyStores)),
    'where to keep it: the keychain of the system, or the settings file (mode 0600), unencrypted; default: where the key of this context is kept now, else asked for on a terminal, else the keychain, else the file',
  ),
};

const login = defineCommand({
  words: ['auth', 'login'],
  summary: 'Choose the sandbox or a service, and store its API key',
  description:
    'On a terminal it asks for what is missing: the service, its address, the key, which is not shown, and where to keep it.\n' +
    'The key is checked with one small request (the first place of the leaderboard) and stored for the origin of the address: it is never\n' +
    'sent anywhere else. --base-url makes a new context, named after the address unless --context names it.\n' +
    'Keys are never taken from arguments, where other users of the machine could read them.\n' +
    'Where no keychain can be used the key is kept in the settings file, and login says so; --store keychain stores none then.',
  params: loginParams,
  examples: [
    { argv: 'auth login --sandbox', says: 'use the built-in sandbox from now on; it needs no key' },
    { argv: 'auth login --context clicker', says: 'asks for the key of the public deployment' },
    {
      argv: 'auth login --context staging --base-url https://staging.example.com --with-key --offline --store file < key.txt',
      says: 'a new context with its key from a file, kept unencrypted',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, ...serviceExitCodes],
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
  params: { check: option.flag('check that the service accepts the key') },
  examples: [
    { argv: '--sandbox auth status', says: "the sandbox's own key" },
    { argv: '--sandbox auth status --check --json', says: 'as JSON, with the answer of the service' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => statusView,
  run: authStatus,
});

export const commands: readonly Command[] = [login, logout, status];

type Target = ReturnType<typeof findTarget>;

const maxKeyLength = 64 * 1024;

/**
 * Stores a key for a context once the service accepted it, or makes the sandbox the current context. Errors: `usage` for what is missing
 * and cannot be asked for, `key-refused` and the other errors of a call (nothing is stored then), `config`, `locked`.
 */
async function runLogin(input: InputOf<typeof loginParams>, context: Context): Promise<Result> {
  const store = await context.store();
  const { dryRun, curl } = context.options;
  if (input.offline && curl)
    throw usageError(
      '--offline and --curl contradict each other',
      'With --offline nothing is sent: there is no request to show.',
    );
  const chosen = await chooseContext(context, store.read());
  if (chosen === undefined) return useSandbox(input, context);
  const { target, isNamed } = chosen;
  if (input.offline && dryRun) {
    const { keyStore } = await chooseStore(input.store, target, context);
    const detail = keyStore === 'keychain' ? 'the keychain' : store.path;
    return showPlan([{ action: 'store', what: `API key of context ${target.name} for ${target.origin}`, detail }]);
  }
  const key = await readAcceptedKey(input, target, context);
  const { keyStore, problem } = await chooseStore(input.store, target, context);
  if (keyStore === 'keychain') await (await import('../../setup/keychain.ts')).writeKeychain(target, key);
  const stored = await store.update(context.io, (now) => ({
    ...withKey(now, target, key, keyStore),
    current: isNamed ? (now.current ?? target.name) : target.name,
  }));
  await dropFromKeychain(target.name, target.before, { keyStore, keyOrigin: target.origin }, context);
  if (problem !== undefined) context.note(`No keychain is used: ${problem.replace(/\.$/, '')}.`);
  const where = keyStore === 'keychain' ? 'the keychain' : `${store.path}, unencrypted and for you alone (mode 0600),`;
  context.note(`The key is stored in ${where} for ${target.origin}${input.offline ? ', unchecked' : ''}.`);
  tellNext(target.name, stored, context);
  if (readEnv(context.io.env, 'SOTRA_API_KEY') !== undefined)
    context.warn('SOTRA_API_KEY is set and overrides the stored key');
  const answer: AuthStatus = {
    context: target.name,
    baseUrl: target.baseUrl,
    keySource: 'context',
    keySuffix: lastFour(key),
    store: keyStore,
    ...(input.offline ? {} : { valid: true }),
  };
  return { kind: 'answer', answer, view: statusView };
}

/** Makes the sandbox the current context. Errors: `usage` for a flag that is about a key. */
async function useSandbox({ withKey, offline, store }: InputOf<typeof loginParams>, context: Context): Promise<Result> {
  const [flag] = [
    withKey && '--with-key',
    offline && '--offline',
    store && '--store',
    context.options.curl && '--curl',
  ].filter(Boolean);
  if (flag !== undefined)
    throw usageError(
      `${flag}: the built-in sandbox has its own keys and stores none`,
      'Use another of them: SOTRA_API_KEY=sandbox-key-b sotra --sandbox ...',
    );
  const settings = await context.store();
  if (context.options.dryRun) return showPlan([{ action: 'use', what: 'context sandbox', detail: settings.path }]);
  const stored = await settings.update(context.io, (now) => ({ ...now, current: 'sandbox' }));
  tellNext('sandbox', stored, context);
  const service = resolveService({ sandbox: true, context: undefined, baseUrl: undefined }, {}, stored);
  return { kind: 'answer', answer: describeStatus(service), view: statusView };
}

function tellNext(name: string, { current }: StoredSettings, context: Context): void {
  const { SOTRA_BASE_URL: baseUrl, SOTRA_CONTEXT: fromEnv } = context.io.env;
  const [variable] = [baseUrl && 'SOTRA_BASE_URL', fromEnv && fromEnv !== name && 'SOTRA_CONTEXT'].filter(Boolean);
  if (variable !== undefined) context.warn(`${variable} is set and overrides the current context`);
  if (current === name) context.note(`${name} is now the current context.`);
  const isInUse = current === name && variable === undefined;
  const place = isInUse ? '' : name === 'sandbox' ? ' --sandbox' : command` --context ${name}`;
  context.note(`Next: sotra leaderboard list --limit 5${place}`);
}

/**
 * The context to store a key for, and whether it was named; `undefined` for the sandbox. What nothing names is asked for. Errors: `usage`
 * if nobody can be asked.
 */
async function chooseContext(
  context: Context,
  stored: StoredSettings,
): Promise<{ target: Target; isNamed: boolean } | undefined> {
  const { sandbox, context: typed, baseUrl } = context.options;
  if (sandbox || typed === 'sandbox') return undefined;
  const name = chosenContext(context.options, context.io.env, stored);
  if (name !== undefined && name !== 'sandbox')
    return { target: findTarget(name, baseUrl, context, stored), isNamed: true };
  const address = baseUrl ?? (await askService(context));
  if (address === undefined) return undefined;
  const known = Object.keys(presets).find((each) => presets[each]?.baseUrl === checkBaseUrl(address));
  return { target: findTarget(known ?? suggestName(address), address, context, stored), isNamed: false };
}

/** The address of a service; `undefined` for the sandbox. */
async function askService(context: Context): Promise<string | undefined> {
  if (!mayAsk(context))
    throw usageError(
      'no service is chosen, and nobody can be asked',
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
  return picked === 'other' ? askAddress(context) : picked;
}

/** Asks until the answer is the address of a service. */
async function askAddress({ io }: Context): Promise<string> {
  for (;;) {
    const answer = (await io.ask('Its address (https://...): ', { hidden: false })).trim();
    try {
      return checkBaseUrl(answer);
    } catch (error) {
      await io.err.write(`${safeText(readMessage(error))}\n`);
    }
  }
}

/** `https://api.example.com` as `example`. */
function suggestName(baseUrl: string): string {
  const { hostname } = new URL(checkBaseUrl(baseUrl));
  const labels = hostname.split('.').slice(0, -1);
  return /^[\d.]+$|^\[|^localhost$/.test(hostname) ? 'local' : (labels.at(-1) ?? hostname);
}

function findTarget(name: string, address: string | undefined, context: Context, stored: StoredSettings) {
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
  const { platform } = context.io.system;
  return { name, baseUrl, origin, platform, before: stored.contexts[name] ?? {} };
}

function needName({ options, io }: Context, stored: StoredSettings): string {
  const name = chosenContext(options, io.env, stored);
  if (name !== undefined) return name;
  throw usageError('no context is chosen', 'Name one with --context; sotra context list shows them.');
}

/** The key, once the service accepts it; one that was typed and is refused is asked for again. */
async function readAcceptedKey(input: InputOf<typeof loginParams>, target: Target, context: Context): Promise<string> {
  const { preview } = context.options;
  for (;;) {
    const key = preview ? 'not-asked-for' : await readKey(input, target, context);
    try {
      if (!input.offline) await checkWithService(key, target, context);
      return key;
    } catch (error) {
      const isRefused = error instanceof SotraError && error.code === 'key-refused';
      if (!isRefused || input.withKey || !mayAsk(context)) throw error;
      await context.io.err.write(`${safeText(error.message)}\n`);
    }
  }
}

async function readKey(
  { withKey }: InputOf<typeof loginParams>,
  { name, origin }: Target,
  { io, options }: Context,
): Promise<string> {
  if (withKey) {
    if (io.in.isTTY === true) throw usageError('--with-key reads from stdin', 'sotra auth login --with-key < key.txt');
    return readKeyText(decodeText(await readWhole('-', io), '-'), 'stdin');
  }
  if (io.in.isTTY !== true || options.noInput)
    throw usageError(
      `cannot ask for the key: ${options.noInput ? '--no-input is set' : 'stdin is not a terminal'}`,
      command`Give it on stdin: sotra auth login --context ${name} --with-key < key.txt, or set SOTRA_API_KEY.`,
    );
  return readKeyText(await io.ask(`API key for ${origin} (not shown): `, { hidden: true }), 'the answer');
}

function readKeyText(text: string, from: string): string {
  const key = text.trim();
  if (key === '') throw usageError(`${from} holds no key`);
  if (key.length > maxKeyLength) throw usageError(`${from} holds more than 64 KB: not a key`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw usageError(
      `${from} holds more than a key: an API key is one word without spaces or characters outside ASCII`,
    );
  return key;
}

async function checkWithService(key: string, { name, baseUrl, origin }: Target, context: Context): Promise<void> {
  const { io, options, note } = context;
  const { SOTRA_BASE_URL: _, SOTRA_CONTEXT: __, ...env } = io.env;
  const asking = createContext({
    ...context,
    io: { ...io, env: { ...env, SOTRA_API_KEY: key } },
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
        ? command`Check the key and the address: sotra context show ${name}.`
        : 'Store it without the check: add --offline.',
      cause: error,
      status: error.status,
      requestId: error.requestId,
    });
  } finally {
    await asking.close();
  }
}

/** Where the key is kept: as typed, as before, as answered, in the keychain, or in the file, where `problem` says why there is no keychain. */
async function chooseStore(
  typed: KeyStore | undefined,
  { name, baseUrl, platform, before }: Target,
  context: Context,
): Promise<{ keyStore: KeyStore; problem?: string }> {
  const { keyStore = before.apiKey === undefined ? undefined : 'file' } = before;
  const known = typed ?? keyStore;
  if (known !== undefined) return { keyStore: known };
  const problem = await (await import('../../setup/keychain.ts')).keychainProblem({ name, baseUrl, platform });
  if (problem !== undefined) return { keyStore: 'file', problem };
  if (!mayAsk(context)) return { keyStore: 'keychain' };
  const choices = [
    { value: 'keychain', line: 'the keychain of the system' },
    { value: 'file', line: 'the settings file, unencrypted (mode 0600)' },
  ] as const;
  return { keyStore: (await pick('Where to keep the key? Enter: the keychain', choices, context.io)) ?? 'keychain' };
}

function withKey(
  now: StoredSettings,
  { name, baseUrl, origin }: Target,
  key: string,
  keyStore: KeyStore,
): StoredSettings {
  const isKnown = contextNames(now).includes(name);
  const held = keyStore === 'file' ? { apiKey: key } : { keySuffix: lastFour(key) };
  const next = { ...withoutKey(now.contexts[name] ?? {}), ...(isKnown ? {} : { baseUrl }), ...held, keyStore };
  return { ...now, contexts: { ...now.contexts, [name]: { ...next, keyOrigin: origin } } };
}

function withoutKey({ apiKey: _, keyStore, keyOrigin, keySuffix, ...kept }: StoredContext): StoredContext {
  return kept;
}

/** Removes a key that the settings do not point to any more. */
async function dropFromKeychain(name: string, before: StoredContext, after: StoredContext, context: Context) {
  if (before.keyStore !== 'keychain' || before.keyOrigin === undefined) return;
  if (after.keyStore === 'keychain' && after.keyOrigin === before.keyOrigin) return;
  const { platform } = context.io.system;
  await (await import('../../setup/keychain.ts')).deleteKeychain({ name, baseUrl: before.keyOrigin, platform });
  context.note(`The key ...${before.keySuffix ?? ''} for ${before.keyOrigin} is removed from the keychain.`);
}

async function runLogout(context: Context): Promise<Result> {
  const store = await context.store();
  const name = needName(context, store.read());
  const before = findContext(name, store.read());
  if (readKeyOrigin(before) === undefined) context.note(`Context ${name} has no stored key.`);
  else if (context.options.dryRun) {
    const where = before.keyStore === 'keychain' ? 'the keychain' : store.path;
    return showPlan([{ action: 'remove', what: `API key of context ${name}`, detail: where }]);
  } else {
    await dropFromKeychain(name, before, {}, context);
    await store.update(context.io, (now) => {
      const { [name]: own = {}, ...others } = now.contexts;
      const kept = withoutKey(own);
      return { ...now, contexts: { ...others, ...(Object.keys(kept).length === 0 ? {} : { [name]: kept }) } };
    });
    if (before.keyStore !== 'keychain') context.note(`The key of context ${name} is removed from ${store.path}.`);
  }
  if (readEnv(context.io.env, 'SOTRA_API_KEY') !== undefined) context.warn('SOTRA_API_KEY is still set and is used');
  return { kind: 'none' };
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
  column.text('store', 'Kept in', 'keychain or file, for a stored key', {
    show: ({ store }) => (store === 'file' ? 'the settings file, unencrypted (mode 0600)' : undefined),
  }),
  column.flag('valid', 'Valid', 'whether the service accepts the key; with --check', {
    show: ({ valid }) => (valid === undefined ? 'not checked' : valid ? 'yes' : 'no, the service refuses it'),
  }),
]);

/** The key in use and where it comes from. Errors: `key-missing` with the same facts as details; those of a call with `check`. */
async function authStatus({ check }: { check?: boolean | undefined }, context: Context): Promise<Result> {
  const service = await orUndefined(context.service(), 'no-service');
  const found = describeStatus(service);
  if (service === undefined || service.apiKey === null) throw reportNoKey(found, service?.keyProblem);
  const notes = service.keyStore === 'file' ? [`The settings are in ${(await context.store()).path}.`] : [];
  if (!check) return { kind: 'answer', answer: found, view: statusView, notes };
  const request = { method: 'GET', path: checkPath };
  if (context.options.preview) return { kind: 'request', request: await context.previewRequest(request) };
  const accepted = await orUndefined(context.request(request), 'key-refused', 'forbidden');
  const valid = accepted !== undefined;
  return { kind: 'answer', answer: { ...found, valid }, view: statusView, notes, exitCode: valid ? 0 : 4 };
}

function describeStatus(service: Service | undefined): AuthStatus {
  return {
    context: service?.context ?? null,
    baseUrl: service?.baseUrl ?? null,
    keySource: service?.keySource ?? null,
    keySuffix: service?.keySuffix ?? null,
    store: service?.keyStore ?? null,
  };
}

function reportNoKey(details: AuthStatus, keyProblem: string | undefined): SotraError {
  const { context, baseUrl } = details;
  const login = context === null ? 'sotra auth login --context <name>' : command`sotra auth login --context ${context}`;
  if (baseUrl === null)
    return new SotraError('key-missing', 'no service is configured, so there is no API key', {
      hint: `Choose a service and store its key: ${login} --base-url https://...`,
      details,
    });
  return new SotraError(
    'key-missing',
    `no API key for ${baseUrl}${keyProblem === undefined ? '' : `; ${keyProblem}`}`,
    {
      hint: `Store one with ${login}, or set SOTRA_API_KEY.`,
      details,
    },
  );
}

/** What is asked to see whether a service answers and accepts the key. */
export const checkPath = '/v2/leaderboard?limit=1';
