import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { option } from '../cli/params.ts';
import { type Context, createContext } from '../context.ts';
import { type InputOf, local } from '../contract/endpoint.ts';
import { SotraError, usageError } from '../errors.ts';
import { checkBaseUrl } from '../model/http-address.ts';
import { command } from '../model/shell.ts';
import { mayAsk, showPlan } from '../output/confirm.ts';
import { type AuthStatus, checkPath, dropFromKeychain, needName, statusView, withoutKey } from './auth.ts';
import { checkName } from './context-commands.ts';
import {
  contextNames,
  findContext,
  type KeyStore,
  keyPlaces,
  keyStores,
  lastFour,
  originOf,
  readEnv,
  type StoredContext,
  type StoredSettings,
  sealedAsks,
} from './settings.ts';

const loginParams = {
  withKey: option.flag('read the key from stdin: sotra auth login --with-key < key.txt'),
  offline: option.flag('store the key without checking it'),
  store: local(
    z.enum(keyStores).optional(),
    'where to keep it: the keychain of the system, the settings file (mode 0600) sealed with a password, or that file as it is; default: where the key of this context is kept now, else the keychain',
  ),
  passwordFile: option.text('file with the password to seal with (SOTRA_PASSWORD_FILE)'),
};

const login = defineCommand({
  words: ['auth', 'login'],
  summary: 'Store an API key for a context',
  description:
    'Asks for the key without showing it, checks it with one small request (the first place of the leaderboard), and stores it for the\n' +
    "origin of the context's base URL: it is never sent anywhere else. With --base-url a new context is made at the same time.\n" +
    'Keys are never taken from arguments, where other users of the machine could read them.\n' +
    'Without a keychain it asks where to keep the key, and elsewhere than on a terminal needs --store. A sealed key is opened with the password\n' +
    'in the file that SOTRA_PASSWORD_FILE names, or with one that is typed.',
  params: loginParams,
  examples: [
    { argv: 'auth login --context clicker', says: 'asks for the key of the public deployment' },
    {
      argv: 'auth login --context staging --base-url https://staging.example.com --with-key --offline --store file < key.txt',
      says: 'a new context with its key from a file, kept unencrypted',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, 4, 6, 7, 8, 9, 13],
  run: runLogin,
});

export const commands: readonly Command[] = [login];

type Target = ReturnType<typeof findTarget>;

const maxKeyBytes = 64 * 1024;

/**
 * Stores a key for a context once the service accepted it. Errors: `usage` without a context or a readable key, `key-refused` and the
 * other errors of a call (nothing is stored then), `config`, `locked`.
 */
async function runLogin(input: InputOf<typeof loginParams>, context: Context): Promise<Result> {
  const store = await context.store();
  const target = findTarget(context, store.read());
  const { dryRun, curl, preview } = context.options;
  if (input.offline && curl)
    throw usageError(
      '--offline and --curl contradict each other',
      'With --offline nothing is sent: there is no request to show.',
    );
  const place = { context: target.name, baseUrl: target.baseUrl };
  if (input.offline && dryRun) {
    const where = placeOf(await chooseStore(input, target, context), store.path);
    return showPlan([
      { action: 'store', what: `API key of context ${target.name} for ${target.origin}`, detail: where },
    ]);
  }
  const key = preview ? 'not-asked-for' : await readKey(input, target, context);
  const keyStore = preview ? 'file' : await chooseStore(input, target, context);
  if (!preview && input.passwordFile !== undefined && keyStore !== 'sealed')
    throw usageError(
      `--password-file: the key is kept ${keyPlaces[keyStore]}, without a password`,
      'Add --store sealed, or omit it.',
    );
  const passwordFile = input.passwordFile ?? readEnv(context.world.env, 'SOTRA_PASSWORD_FILE');
  const password =
    preview || keyStore !== 'sealed'
      ? undefined
      : await (await import('../keys/open-key.ts')).newPassword(passwordFile, context);
  if (!input.offline) await checkWithService(key, target, context);
  if (keyStore === 'keychain') await (await import('./keychain.ts')).writeKeychain(place, key);
  const held = await heldKey(key, password, target, keyStore, context);
  const where = placeOf(keyStore, store.path);
  let becameCurrent = false;
  await store.update(context.world, (now) => {
    becameCurrent = now.current === undefined;
    return { ...withKey(now, target, held), current: now.current ?? target.name };
  });
  await dropFromKeychain(target.name, target.before, { keyStore, keyOrigin: target.origin }, context);
  context.note(`The key is stored in ${where} for ${target.origin}${input.offline ? ', unchecked' : ''}.`);
  if (keyStore === 'sealed' && readEnv(context.world.env, 'SOTRA_PASSWORD_FILE') === undefined)
    context.note(sealedAsks);
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
      command`Change it first: sotra context set ${name} --base-url ${typed}, or name another context.`,
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
      command`Give it on stdin: sotra auth login --context ${name} --with-key < key.txt, or set SOTRA_API_KEY.`,
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
  const { SOTRA_BASE_URL: _, SOTRA_CONTEXT: __, ...env } = world.env;
  const asking = createContext({
    ...context,
    world: { ...world, env: { ...env, SOTRA_API_KEY: key } },
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

function withKey(now: StoredSettings, { name, baseUrl, origin }: Target, held: StoredContext): StoredSettings {
  const context = withoutKey(now.contexts[name] ?? {});
  const isKnown = contextNames(now).includes(name);
  const next = { ...context, ...(isKnown ? {} : { baseUrl }), ...held, keyOrigin: origin };
  return { ...now, contexts: { ...now.contexts, [name]: next } };
}

/** What the settings hold of a key, by where it is kept. */
async function heldKey(
  key: string,
  password: Uint8Array | undefined,
  target: Target,
  keyStore: KeyStore,
  { world }: Context,
): Promise<StoredContext> {
  if (keyStore === 'file') return { apiKey: key, keyStore };
  if (password === undefined) return { keySuffix: lastFour(key), keyStore };
  const { sealApiKey } = await import('./sealed-key.ts');
  return { sealedKey: await sealApiKey(key, password, target, world.scryptCost), keySuffix: lastFour(key), keyStore };
}

function placeOf(keyStore: KeyStore, file: string): string {
  if (keyStore === 'keychain') return 'the keychain';
  return keyStore === 'file' ? file : `${file}, sealed with a password`;
}

/**
 * Where the key is kept: as said, as before, in the keychain, or where the user says. Errors: `usage` where there is no keychain and
 * nobody can be asked.
 */
async function chooseStore(
  { store: said }: InputOf<typeof loginParams>,
  { name, baseUrl, before }: Target,
  context: Context,
): Promise<KeyStore> {
  const known = said ?? before.keyStore ?? (before.apiKey === undefined ? undefined : 'file');
  if (known !== undefined) return known;
  const { keychainProblem } = await import('./keychain.ts');
  const problem = await keychainProblem({ context: name, baseUrl });
  if (problem === undefined) return 'keychain';
  const { world } = context;
  if (!mayAsk(context))
    throw usageError(
      `--store is needed to say where to keep the key: ${problem}`,
      'Add --store sealed --password-file <file>, or --store file (unencrypted, mode 0600); or keep it in SOTRA_API_KEY.',
    );
  await world.io.err.write('No keychain can be used here; auth login --store keychain says why.\n');
  const question = 'Keep it (s)ealed with a password, or unencrypted in a (f)ile of yours? [s/f] ';
  const answer = (await world.io.ask(question, { hidden: false })).trim().toLowerCase();
  if (/^s(ealed)?$/.test(answer)) return 'sealed';
  if (/^f(ile)?$/.test(answer)) return 'file';
  throw usageError(`'${answer}' is neither s nor f; the key was not stored`);
}
