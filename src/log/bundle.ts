import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Command, defineCommand, type Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { local } from '../contract/endpoint.ts';
import { SotraError, usageError } from '../errors.ts';
import { readStateFile, replaceFile } from '../files/durable-file.ts';
import { secretHider } from '../http/secrets.ts';
import { safeText } from '../model/safe-text.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import { column, recordView } from '../output/columns.ts';
import { confirm, showPlan } from '../output/confirm.ts';
import { commands as doctorCommands } from '../setup/doctor.ts';
import { readEnv, type StoredContext } from '../setup/settings.ts';
import { describeCall } from './shown-call.ts';
import { findLog, readCalls } from './store.ts';

const maxFailedCalls = 20;

interface BundleFacts {
  file: string;
  bytes: number;
  failedCalls: number;
}

const view = recordView<BundleFacts>([
  column.text('file', 'Bundle', 'the file that was written'),
  column.count('bytes', 'Bytes', 'its size'),
  column.count('failedCalls', 'Failed calls', 'how many of the last calls that failed it holds'),
]);

const bundle = defineCommand({
  words: ['bundle'],
  summary: 'Write one file for a support ticket: version, settings, doctor and the last failed calls',
  description:
    `Without keys, secrets or answers: settings as far as they are no secret, what doctor finds, and the last ${maxFailedCalls} calls that failed, each with\n` +
    'the command that sends it again. It is shown first; elsewhere than on a terminal --yes is needed. Where a secret of this machine would be\n' +
    'inside, nothing is written and the place is named.',
  params: { out: local(z.string().min(1), 'file to write (mode 0600)') },
  examples: [
    { argv: '--sandbox bundle --out ticket.json', says: 'shows it, asks, and writes it' },
    { argv: '--sandbox bundle --out ticket.json --yes', says: 'in a script' },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3],
  view: async () => view,
  run: async ({ out }, context): Promise<Result> => {
    if (!existsSync(dirname(out)))
      throw usageError(`--out ${out}: there is no folder ${dirname(out)}`, 'Make it first, or name another file.');
    const what = 'a bundle of version, settings, doctor and failed calls';
    if (context.options.dryRun) return showPlan([{ action: 'write', what, detail: out }]);
    const contents = await collect(context);
    refuseSecrets(contents, await knownSecrets(context));
    const text = `${JSON.stringify(contents, undefined, 2)}\n`;
    const shown = text.split('\n').map(safeText).join('\n');
    await confirm(existsSync(out) ? `replace ${out} with this` : `write this to ${out}`, context, shown);
    replaceFile(out, text);
    const failedCalls = contents.failedCalls.length;
    return {
      kind: 'answer',
      answer: { file: out, bytes: Buffer.byteLength(text), failedCalls } satisfies BundleFacts,
      view,
    };
  },
});

export const commands: readonly Command[] = [bundle];

async function collect(context: Context) {
  const { world } = context;
  const { current, contexts, aliases = {}, history } = (await context.store()).read();
  const diagnosis = await doctorCommands[0]?.run({} as never, context);
  const calls = [...readCalls(findLog(await context.dataDirectory()), context.warn, ({ hasFailed }) => hasFailed)];
  return {
    bundle: 1,
    createdAt: new Date(world.now()).toISOString(),
    sotra: world.version,
    node: world.system.node,
    platform: world.system.platform,
    // Some hold secrets: their names tell enough.
    variables: Object.keys(world.env)
      .filter((name) => /^SOTRA_|_PROXY$|^NODE_(OPTIONS|EXTRA_CA_CERTS)$/i.test(name))
      .sort(),
    settings: {
      current: current ?? null,
      contexts: Object.fromEntries(Object.entries(contexts).map(([name, stored]) => [name, withoutSecrets(stored)])),
      aliases: Object.keys(aliases).length,
      history: history !== false,
    },
    doctor: diagnosis?.kind === 'answer' ? diagnosis.answer : null,
    failedCalls: calls.slice(0, maxFailedCalls).map(describeCall),
  };
}

function withoutSecrets(stored: StoredContext) {
  const { baseUrl, keyStore, keyOrigin, serviceName, layout, wire, inbox } = stored;
  const hasKey = stored.apiKey !== undefined || keyStore !== undefined;
  return {
    baseUrl,
    keyStore,
    keyOrigin,
    serviceName,
    layout,
    wire,
    inbox: inbox === undefined ? undefined : hideUrlSecrets(inbox),
    hasKey,
  };
}

interface KnownSecret {
  name: string;
  secret: string;
}

/** What must not leave this machine, as far as it can be read. */
async function knownSecrets(context: Context): Promise<KnownSecret[]> {
  const { contexts } = (await context.store()).read();
  const fromEnv = readEnv(context.world.env, 'SOTRA_API_KEY');
  const service = await context.service().catch(() => undefined);
  const used = service?.kind === 'http' ? service.apiKey : null;
  const jobs = join(await context.dataDirectory(), 'webhook', 'jobs');
  const files = (existsSync(jobs) ? readdirSync(jobs) : [])
    .map((job) => join(jobs, job, 'secret'))
    .filter((file) => existsSync(file));
  return [
    ...(fromEnv === undefined ? [] : [{ name: 'the API key of SOTRA_API_KEY', secret: fromEnv }]),
    ...(used ? [{ name: 'the API key in use', secret: used }] : []),
    ...Object.entries(contexts).flatMap(([name, { apiKey }]) =>
      apiKey === undefined ? [] : [{ name: `the API key of context ${name}`, secret: apiKey }],
    ),
    ...files.map((file) => ({ name: 'the secret of a webhook', secret: readStateFile(file).trim() })),
  ].filter(({ secret }) => secret.length >= 8);
}

/** Errors: `config`, naming the place of a secret and not the secret. */
function refuseSecrets(contents: object, secrets: readonly KnownSecret[]): void {
  const hiders = [...secrets, { name: 'a secret', secret: undefined }].map(({ name, secret }) => ({
    name,
    hide: secretHider(secret),
  }));
  const findIn = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, part] of Object.entries(value)) {
        findIn(key, path);
        findIn(part, [...path, key]);
      }
    if (typeof value !== 'string') return;
    const found = hiders.find(({ hide }) => hide(value) !== value);
    if (found === undefined) return;
    const place = [...path].map((part) => hiders.reduce((text, { hide }) => hide(text), part)).join('.');
    throw new SotraError(
      'config',
      `the bundle would hold ${found.name}, in ${place || 'its names'}: nothing was written`,
      {
        hint: 'Remove it there: sotra context set corrects settings, sotra history clear removes calls.',
      },
    );
  };
  findIn(contents, []);
}
