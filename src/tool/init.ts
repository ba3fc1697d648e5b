import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { flagsOf } from '../cli/globals.ts';
import { option } from '../cli/params.ts';
import { type Context, createContext } from '../context.ts';
import { type InputOf, local } from '../contract/endpoint.ts';
import { SotraError, usageError } from '../errors.ts';
import { makeSigner } from '../keys/signer.ts';
import { checkBaseUrl } from '../model/http-address.ts';
import { mayAsk, showPlan } from '../output/confirm.ts';
import { post } from '../resources/comment/endpoints.ts';
import { signedText, type TextForm } from '../resources/comment/signing.ts';
import { keyStores, layouts, presets, readEnv, type StoredContext } from '../settings/settings.ts';
import type { World } from '../world.ts';
import { checkName } from './context.ts';
import { callFlags, runShown, showLine, typedLine } from './shown-line.ts';

const presetNames = Object.keys(presets).filter((name) => name !== 'sandbox') as [string, ...string[]];

const params = {
  preset: local(z.enum(presetNames).optional(), 'a known service, or the values of one for --base-url'),
  serviceName: option.text('first words of the signed text of a comment (default: found out, or asked for)'),
  layout: local(z.enum(layouts).optional(), 'form of that text (default: found out)'),
  withKey: option.flag('read the API key from stdin'),
  store: local(z.enum(keyStores).optional(), 'where to keep the key, as in auth login'),
  passwordFile: option.text('file with the password to seal the key with'),
  offline: option.flag('check nothing with the service, and show no board'),
};

type Input = InputOf<typeof params>;

const init = defineCommand({
  words: ['init'],
  summary: 'Choose the sandbox or a service, and see a first board',
  description:
    'Asks for what no flag says, and shows each command before it runs it. --context names the context (default: after the address).\n' +
    'How comments are signed is found out with signed comments on a trade that does not exist: nothing is posted.',
  params,
  examples: [
    { argv: 'init --sandbox --yes --no-input', says: 'the built-in sandbox, without questions' },
    {
      argv: 'init --base-url https://api.example.com --service-name Example --with-key --store file --offline < key.txt',
      says: 'a service, in a script',
    },
  ],
  uses: ['service', 'changes', 'calls'],
  exitCodes: [3, 4, 6, 7, 8, 9, 11, 13],
  run: runInit,
});

export const commands: readonly Command[] = [init];

interface ServiceChoice {
  name: string;
  baseUrl: string;
  preset: string | undefined;
}

async function runInit(input: Input, asked: Context): Promise<Result> {
  const context = { ...asked, world: withPassword(asked.world, input.passwordFile) };
  const chosen = await chooseService(input, context);
  const made = chosen === undefined ? sandboxLines : linesOf(chosen, input, context);
  const fromEnv = readEnv(context.world.env, 'SOTRA_BASE_URL');
  const isOther = fromEnv !== undefined && fromEnv !== chosen?.baseUrl;
  if (isOther)
    context.warn(
      'SOTRA_BASE_URL is set and overrides what is stored here: unset it, or other commands use that service.',
    );
  const named = isOther ? ['--context', chosen?.name ?? 'sandbox'] : [];
  const lines = [...made, ...(input.offline ? [] : [[...board, ...named]])].map((line) =>
    line[0] === 'context' ? line : [...line, ...callFlags(context.options)],
  );
  if (context.options.dryRun)
    return showPlan(lines.map((line) => ({ action: 'run', what: typedLine(line), detail: null })));
  const ran: { command: string; exitCode: number }[] = [];
  for (const line of lines) {
    await showLine(line, context);
    const { code } = await runShown(line, context, context.world);
    ran.push({ command: typedLine(line), exitCode: code });
    if (code !== 0) return { kind: 'none', exitCode: code };
    if (chosen !== undefined && line[1] === 'use') await setForm(chosen, input, context);
  }
  if (context.options.format !== 'json') {
    context.note("Next: sotra tour, sotra profile get '#1', or sotra --help.");
    return { kind: 'none' };
  }
  const { contexts } = (await context.store()).read();
  const { baseUrl = null, serviceName = null, layout = null } = contexts[chosen?.name ?? ''] ?? presetOf(chosen?.name);
  const answer = { context: chosen?.name ?? 'sandbox', baseUrl, serviceName, layout, commands: ran };
  return { kind: 'answer', answer };
}

/** A world where the file's password opens the key, too. */
function withPassword(world: World, file: string | undefined): World {
  return file === undefined ? world : { ...world, env: { ...world.env, SOTRA_PASSWORD_FILE: file } };
}

function presetOf(name = 'sandbox'): StoredContext {
  return presets[name] ?? {};
}

const board = ['leaderboard', 'list', '--limit', '5'];
const sandboxLines = [['context', 'use', 'sandbox']];

/** What stores the choice; the key comes first, so that nothing is stored where the service refuses it. */
function linesOf({ name, baseUrl, preset }: ServiceChoice, input: Input, { world }: Context): string[][] {
  const { withKey, store, passwordFile, offline, serviceName, layout } = input;
  const login = flagsOf({
    '--with-key': withKey,
    '--offline': offline,
    '--store': store,
    '--password-file': passwordFile,
  });
  const form = flagsOf({
    '--preset': preset === name ? undefined : preset,
    '--service-name': serviceName,
    '--layout': layout,
  });
  const place = ['--context', name, ...(presetOf(preset).baseUrl === baseUrl ? [] : ['--base-url', baseUrl])];
  const hasKey = readEnv(world.env, 'SOTRA_API_KEY') !== undefined && !withKey;
  return [
    ...(hasKey ? [] : [['auth', 'login', ...place, ...login]]),
    ...(hasKey || form.length > 0 ? [['context', 'set', name, '--base-url', baseUrl, ...form]] : []),
    ['context', 'use', name],
  ];
}

/** What was named, or is answered; `undefined` for the sandbox. Errors: `usage` where nothing is named and nobody can be asked. */
async function chooseService({ preset }: Input, context: Context): Promise<ServiceChoice | undefined> {
  const { sandbox, baseUrl: typed, context: name } = context.options;
  const { SOTRA_BASE_URL: fromEnv } = context.world.env;
  if (sandbox) return undefined;
  const named = typed ?? presetOf(preset ?? 'none').baseUrl ?? (fromEnv || undefined);
  const baseUrl = named ?? (await askService(context));
  if (baseUrl === undefined) return undefined;
  const checked = checkBaseUrl(baseUrl);
  const known = preset ?? presetNames.find((each) => presets[each]?.baseUrl === checked);
  const usual = known !== undefined && presets[known]?.baseUrl === checked ? known : nameOf(checked);
  return { name: checkName(name ?? usual), baseUrl: checked, preset: known };
}

async function askService(context: Context): Promise<string | undefined> {
  const { world } = context;
  if (!mayAsk(context))
    throw usageError(
      'nothing says which service, and nobody can be asked',
      'Name it: sotra init --sandbox, or sotra init --base-url https://... --with-key --store file < key.txt.',
    );
  const services = presetNames.map((name) => `${name}, at ${presets[name]?.baseUrl}`);
  const choices = ['the built-in sandbox: offline, without a key', ...services, 'another service'];
  await world.io.err.write(`${choices.map((choice, index) => `  ${index + 1}  ${choice}`).join('\n')}\n`);
  const answer = (await world.io.ask(`Which? [1-${choices.length}, default 1] `, { hidden: false })).trim();
  const picked = answer === '' ? 1 : Number(answer);
  if (!(picked >= 1 && picked <= choices.length)) throw usageError(`'${answer}' is not one of 1 to ${choices.length}`);
  if (picked === 1) return undefined;
  if (picked < choices.length) return presets[presetNames[picked - 2] ?? '']?.baseUrl;
  return (await world.io.ask('Its address (https://...): ', { hidden: false })).trim();
}

/** `https://api.example.com` as `example`. */
function nameOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const labels = hostname.split('.').slice(0, -1);
  return /^[\d.]+$|^\[|^localhost$/.test(hostname) ? 'local' : (labels.at(-1) ?? hostname);
}

/** Finds out how comments are signed where neither flags nor a preset say it, or asks, and stores it. */
async function setForm({ name, baseUrl }: ServiceChoice, input: Input, context: Context): Promise<void> {
  const stored = (await context.store()).read().contexts[name];
  if (input.offline || (stored?.serviceName ?? presets[name]?.serviceName) !== undefined) return;
  const form = await findForm({ name, baseUrl }, input, context);
  if (form === undefined)
    return context.note(`How comments are signed is not known yet: sotra context set ${name} --service-name <name>.`);
  const line = ['context', 'set', name, '--service-name', form.serviceName, '--layout', form.layout];
  await showLine(line, context);
  await runShown(line, context, context.world);
}

async function findForm(
  { name, baseUrl }: Pick<ServiceChoice, 'name' | 'baseUrl'>,
  { layout = 'five-line' }: Input,
  context: Context,
): Promise<TextForm | undefined> {
  const options = { ...context.options, context: name, baseUrl: undefined, quiet: true };
  const asking = createContext({ ...context, options, say: () => undefined });
  const usual = nameOf(baseUrl);
  const words = [`${usual.charAt(0).toUpperCase()}${usual.slice(1)}`];
  const names = [...words, ...Object.values(presets).flatMap(({ serviceName }) => serviceName ?? [])];
  try {
    const form = await probeSigning([...new Set(names)], asking);
    if (form !== undefined || !mayAsk(context)) return form;
  } finally {
    await asking.close();
  }
  const question = 'Name of the service in signed comments (Enter: later): ';
  const serviceName = (await context.world.io.ask(question, { hidden: false })).trim();
  return serviceName === '' ? undefined : { serviceName, layout };
}

const randomHex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;

/**
 * The form of signed texts that a service accepts, of these service names; `undefined` where its answers do not tell. Sends comments on a
 * trade that does not exist, signed by a key that nobody keeps: a service answers a fitting signature otherwise than one that does not fit.
 */
async function probeSigning(serviceNames: readonly string[], context: Context): Promise<TextForm | undefined> {
  const signer = await makeSigner('evm', randomBytes(32), 'base58');
  const fields = {
    chain: 'base',
    tokenAddress: randomHex(20),
    transactionHash: randomHex(32),
    commentText: 'Does this signature fit?',
  } as const;
  const refusalOf = async (text: string) => {
    const signature = await signer.sign(text);
    return askRefusal({ ...fields, signature, signerAddress: signer.address }, context);
  };
  const unfitting = await refusalOf('one text');
  if (unfitting === undefined || (await refusalOf('another text')) !== unfitting) return undefined;
  for (const serviceName of serviceNames)
    for (const layout of layouts) {
      const refusal = await refusalOf(signedText(fields, { serviceName, layout }));
      if (refusal === undefined) return undefined;
      if (refusal !== unfitting) return { serviceName, layout };
    }
  return undefined;
}

/** The refusal without its values, which differ from request to request; `undefined` for any other answer. */
async function askRefusal(input: object, context: Context) {
  try {
    await context.call(post, input as never, undefined, 0);
    return undefined;
  } catch (error) {
    if (!(error instanceof SotraError) || error.code !== 'bad-request') return undefined;
    return (error.body ?? error.message).replaceAll(/0x[0-9a-f…]+|\d+/gi, '');
  }
}
