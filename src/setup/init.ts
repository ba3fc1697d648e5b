import { type Command, defineCommand, option, type Result } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import { writeFlags } from '../cli/globals.ts';
import type { Context } from '../context.ts';
import { type InputOf, local } from '../contract/endpoint.ts';
import { choice, optional } from '../contract/kind.ts';
import { readMessage, SotraError, usageError } from '../errors.ts';
import { checkBaseUrl } from '../model/http-address.ts';
import { command } from '../model/shell.ts';
import { mayAsk, showPlan } from '../output/confirm.ts';
import { pick } from '../output/pick.ts';
import { callFlags, runShown, showLine, typedLine } from '../tool/shown-line.ts';
import { checkName } from './context-commands.ts';
import { keyStores, layouts, presets, readEnv, type StoredContext } from './settings.ts';

const presetNames = Object.keys(presets).filter((name) => name !== 'sandbox') as [string, ...string[]];

const params = {
  preset: local(optional(choice(presetNames)), 'a known service, or the values of one for --base-url'),
  serviceName: option.text('first words of the signed text of a comment (default: of the preset, or asked for)'),
  layout: local(optional(choice(layouts)), 'form of that text (default: of the preset, or asked for)'),
  withKey: option.flag('read the API key from stdin'),
  store: local(optional(choice(keyStores)), 'where to keep the key, as in auth login'),
  offline: option.flag('check nothing with the service, and show no board'),
};

type Input = InputOf<typeof params>;

const init = defineCommand({
  words: ['init'],
  summary: 'Choose the sandbox or a service, and see a first board',
  description:
    'Asks for what no flag says, and shows each command before it runs it. --context names the context (default: after the address). ' +
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
  exitCodes: [3, ...serviceExitCodes, 11],
  run: runInit,
});

export const commands: readonly Command[] = [init];

interface ServiceChoice {
  name: string;
  baseUrl: string;
  preset: string | undefined;
}

async function runInit(input: Input, context: Context): Promise<Result> {
  const chosen = await chooseService(input, context);
  const made = chosen === undefined ? sandboxLines : planLines(chosen, await askForm(chosen, input, context), context);
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
    const code = await runUntilAccepted(line, input, context);
    ran.push({ command: typedLine(line), exitCode: code });
    if (code !== 0) return { kind: 'none', exitCode: code };
  }
  const { contexts } = (await context.store()).read();
  const stored = contexts[chosen?.name ?? ''] ?? findPreset(chosen?.name);
  if (context.options.format !== 'json') {
    if (stored.serviceName === undefined)
      context.note(
        command`How comments are signed is not known yet: sotra context set ${chosen?.name ?? 'sandbox'} --service-name <name>.`,
      );
    context.note("Next: sotra profile get '#1', or sotra --help.");
    return { kind: 'none' };
  }
  const { baseUrl = null, serviceName = null, layout = null } = stored;
  const answer = { context: chosen?.name ?? 'sandbox', baseUrl, serviceName, layout, commands: ran };
  return { kind: 'answer', answer };
}

/** The exit code of a line; a typed key that the service refuses is asked for again. Errors: those of the line. */
async function runUntilAccepted(line: readonly string[], { withKey }: Input, context: Context): Promise<number> {
  const isTyped = line[0] === 'auth' && !withKey && mayAsk(context);
  for (;;)
    try {
      return (await runShown(line, context)).code;
    } catch (error) {
      if (!isTyped || !(error instanceof SotraError) || error.code !== 'key-refused') throw error;
      await context.world.io.err.write(`${error.message}\n`);
    }
}

function findPreset(name = 'sandbox'): StoredContext {
  return presets[name] ?? {};
}

const board = ['leaderboard', 'list', '--limit', '5'];
const sandboxLines = [['context', 'use', 'sandbox']];

/** What stores the choice; the key comes first, so that nothing is stored where the service refuses it. */
function planLines({ name, baseUrl, preset }: ServiceChoice, input: Input, { world }: Context): string[][] {
  const { withKey, store, offline, serviceName, layout } = input;
  const login = writeFlags({ '--with-key': withKey, '--offline': offline, '--store': store });
  const form = writeFlags({
    '--preset': preset === name ? undefined : preset,
    '--service-name': serviceName,
    '--layout': layout,
  });
  const place = ['--context', name, ...(findPreset(preset).baseUrl === baseUrl ? [] : ['--base-url', baseUrl])];
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
  const named = typed ?? findPreset(preset ?? 'none').baseUrl ?? (fromEnv || undefined);
  const baseUrl = named ?? (await askService(context));
  if (baseUrl === undefined) return undefined;
  const checked = checkBaseUrl(baseUrl);
  const known = preset ?? presetNames.find((each) => presets[each]?.baseUrl === checked);
  const usual = known !== undefined && presets[known]?.baseUrl === checked ? known : suggestName(checked);
  return { name: checkName(name ?? usual), baseUrl: checked, preset: known };
}

async function askService(context: Context): Promise<string | undefined> {
  const { world } = context;
  if (!mayAsk(context))
    throw usageError(
      'nothing says which service, and nobody can be asked',
      'Name it: sotra init --sandbox, or sotra init --base-url https://... --with-key < key.txt.',
    );
  const sandbox = { value: 'sandbox', line: 'the built-in sandbox: offline, without a key' };
  const services = presetNames.map((name) => ({ value: name, line: `${name}, at ${presets[name]?.baseUrl}` }));
  const other = { value: 'other', line: 'another service' };
  const picked = await pick('Which service? Enter: the sandbox', [sandbox, ...services, other], world);
  if (picked === 'other') return askUntil('Its address (https://...): ', context, checkBaseUrl);
  return findPreset(picked).baseUrl;
}

/** What `read` makes of an answer; asked again until it takes one. Errors: those of the question. */
async function askUntil<T>(question: string, { world: { io } }: Context, read: (answer: string) => T): Promise<T> {
  for (;;) {
    const answer = (await io.ask(question, { hidden: false })).trim();
    try {
      return read(answer);
    } catch (error) {
      await io.err.write(`${readMessage(error)}\n`);
    }
  }
}

/** `https://api.example.com` as `example`. */
function suggestName(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const labels = hostname.split('.').slice(0, -1);
  return /^[\d.]+$|^\[|^localhost$/.test(hostname) ? 'local' : (labels.at(-1) ?? hostname);
}

/** How comments are signed, where a question has to tell: neither a flag, nor the preset, nor what is stored says it. */
async function askForm({ name, preset }: ServiceChoice, input: Input, context: Context): Promise<Input> {
  const stored = (await context.store()).read().contexts[name];
  const known = input.serviceName ?? findPreset(preset ?? 'none').serviceName ?? stored?.serviceName;
  if (known !== undefined || !mayAsk(context)) return input;
  const serviceName = await askUntil('Name of the service in signed comments (Enter: later): ', context, String);
  if (serviceName === '') return input;
  const question = `Layout of the signed text, ${layouts.join(' or ')} (Enter: ${layouts[0]}): `;
  const layout =
    input.layout ??
    (await askUntil(question, context, (answer) => {
      const found = answer === '' ? layouts[0] : layouts.find((each) => each === answer);
      if (found !== undefined) return found;
      throw usageError(`'${answer}' is not a layout: type ${layouts.join(' or ')}`);
    }));
  return { ...input, serviceName, layout };
}
