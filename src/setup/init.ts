import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { flagsOf } from '../cli/globals.ts';
import { option } from '../cli/params.ts';
import type { Context } from '../context.ts';
import { type InputOf, local } from '../contract/endpoint.ts';
import { usageError } from '../errors.ts';
import { checkBaseUrl } from '../model/http-address.ts';
import { command } from '../model/shell.ts';
import { mayAsk, showPlan } from '../output/confirm.ts';
import { callFlags, runShown, showLine, typedLine } from '../tool/shown-line.ts';
import type { World } from '../world.ts';
import { checkName } from './context-commands.ts';
import { keyStores, layouts, presets, readEnv, type StoredContext } from './settings.ts';

const presetNames = Object.keys(presets).filter((name) => name !== 'sandbox') as [string, ...string[]];

const params = {
  preset: local(z.enum(presetNames).optional(), 'a known service, or the values of one for --base-url'),
  serviceName: option.text('first words of the signed text of a comment (default: of the preset, or asked for)'),
  layout: local(z.enum(layouts).optional(), 'form of that text (default: of the preset, or asked for)'),
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
    'Asks for what no flag says, and shows each command before it runs it. --context names the context (default: after the address) ' +
    'It only reads from the service.',
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
  const made = chosen === undefined ? sandboxLines : linesOf(chosen, await askForm(chosen, input, context), context);
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
  }
  const { contexts } = (await context.store()).read();
  const stored = contexts[chosen?.name ?? ''] ?? presetOf(chosen?.name);
  if (context.options.format !== 'json') {
    if (stored.serviceName === undefined)
      context.note(
        command`How comments are signed is not known yet: sotra context set ${chosen?.name ?? 'sandbox'} --service-name <name>.`,
      );
    context.note("Next: sotra tour, sotra profile get '#1', or sotra --help.");
    return { kind: 'none' };
  }
  const { baseUrl = null, serviceName = null, layout = null } = stored;
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

/** How comments are signed, where a question has to tell: neither a flag, nor the preset, nor what is stored says it. */
async function askForm({ name, preset }: ServiceChoice, input: Input, context: Context): Promise<Input> {
  const stored = (await context.store()).read().contexts[name];
  const known = input.serviceName ?? presetOf(preset ?? 'none').serviceName ?? stored?.serviceName;
  if (known !== undefined || !mayAsk(context)) return input;
  const ask = async (question: string) => (await context.world.io.ask(question, { hidden: false })).trim();
  const serviceName = await ask('Name of the service in signed comments (Enter: later): ');
  if (serviceName === '') return input;
  const answer =
    input.layout ?? (await ask(`Layout of the signed text, ${layouts.join(' or ')} (Enter: ${layouts[0]}): `));
  const layout = layouts.find((each) => each === answer);
  if (layout === undefined && answer !== '')
    throw usageError(`'${answer}' is not a layout`, `Type ${layouts.join(' or ')}.`);
  return { ...input, serviceName, layout };
}
