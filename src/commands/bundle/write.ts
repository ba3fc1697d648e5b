import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseJson } from '../../api/json.ts';
import { wrapInHar } from '../../calls/entry.ts';
import { findHistory, isHistoryOff } from '../../calls/log.ts';
import { readLog, summarizeCall } from '../../calls/read-log.ts';
import { hideSecrets, hideUrlSecrets, keyHider } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
import { dataDirectory, readEnv } from '../../lib/config/config.ts';
import type { StoredContext } from '../../lib/config/settings.ts';
import { readStateFile, replaceFile, requireFolder } from '../../lib/files/durable-file.ts';
import { confirmReplace, showPlan } from '../../lib/output/confirm.ts';
import { counted } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/view.ts';
import { diagnose } from '../doctor/checks.ts';

const maxCalls = 50;

/** Writes the bundle and summarizes it. Errors: those of the file system; `usage` if an existing file must not be replaced. */
export async function writeBundle(out: string | undefined, context: Context): Promise<Result> {
  const time = new Date(context.io.now()).toISOString().replaceAll(/[:.]/g, '-');
  const file = out ?? `sotra-bundle-${time}.json`;
  requireFolder('--out', file);
  const what = 'version, settings, doctor and failed calls';
  if (context.options.dryRun) return showPlan([{ action: 'write', what, detail: file }]);
  await confirmReplace('--out', file, context);
  const contents = await collect(context);
  const hide = hideKnown(await listSecrets(context));
  const text = hide(`${JSON.stringify(contents, undefined, 2)}\n`);
  replaceFile(file, text);
  return { kind: 'answer', answer: summarize(parseJson(text) as Contents, text, file) };
}

type Contents = Awaited<ReturnType<typeof collect>>;

/** What the command prints. */
export type BundleSummary = ReturnType<typeof summarize>;

function summarize(contents: Contents, text: string, file: string) {
  const { sotra, node, platform, settings, doctor, failedCalls } = contents;
  const problems = doctor.checks.flatMap(({ check, state }) =>
    state === 'problem' || state === 'warning' ? [check] : [],
  );
  const [last] = failedCalls;
  return {
    sotra: `${sotra}, Node ${node}, ${platform}`,
    settings: `${counted(Object.keys(settings.contexts).length, 'context')}, ${counted(settings.aliases, 'alias')}`,
    doctor: problems.length === 0 ? 'no problems' : `problems: ${problems.join(', ')}`,
    failedCalls: failedCalls.length,
    last: last === undefined ? null : `${last.method} ${last.path}: ${last.error}`,
    bytes: Buffer.byteLength(text),
    file,
  };
}

async function collect(context: Context) {
  const { io } = context;
  const { current, contexts, aliases = {} } = (await context.config.settings()).read();
  // Before doctor makes calls too.
  const log = [...readLog(findHistory(io))];
  const failedCommand = log.find((line) => !('request' in line));
  const calls = log.flatMap((line) => ('request' in line && line._sotra.error !== undefined ? [line] : []));
  const failed = calls.slice(0, maxCalls);
  const doctor = await diagnose(context);
  return {
    bundle: 2,
    createdAt: new Date(io.now()).toISOString(),
    sotra: io.version,
    node: io.system.node,
    platform: io.system.platform,
    // Names only: some values are secrets.
    variables: Object.keys(io.env)
      .filter((name) => /^SOTRA_|_PROXY$|^NODE_(OPTIONS|EXTRA_CA_CERTS)$/i.test(name))
      .sort(),
    settings: {
      current: current ?? null,
      contexts: Object.fromEntries(Object.entries(contexts).map(([name, stored]) => [name, withoutSecrets(stored)])),
      aliases: Object.keys(aliases).length,
      history: !isHistoryOff(io),
    },
    doctor,
    failedCommand: failedCommand ?? null,
    failedCalls: failed.map(summarizeCall),
    ...wrapInHar(failed.toReversed(), io.version),
  };
}

function withoutSecrets(stored: StoredContext) {
  const { baseUrl, keyStore, keyOrigin, serviceName, layout, wire, inbox } = stored;
  const hasKey = stored.apiKey !== undefined || keyStore !== undefined;
  const shownInbox = inbox === undefined ? undefined : hideUrlSecrets(inbox);
  return { baseUrl, keyStore, keyOrigin, serviceName, layout, wire, inbox: shownInbox, hasKey };
}

/** The secrets stored here that can be read. */
async function listSecrets(context: Context): Promise<string[]> {
  const { contexts } = (await context.config.settings()).read();
  const service = await context.config.service().catch(() => undefined);
  const uploads = join(dataDirectory(context.io), 'webhook', 'uploads');
  const files = existsSync(uploads) ? readdirSync(uploads, { recursive: true, encoding: 'utf8' }) : [];
  return [
    readEnv(context.io.env, 'SOTRA_API_KEY') ?? '',
    service?.kind === 'http' ? (service.apiKey ?? '') : '',
    ...Object.values(contexts).map(({ apiKey = '' }) => apiKey),
    ...files.flatMap((file) => (/^secret-/.test(basename(file)) ? readStateFile(join(uploads, file)).trim() : [])),
  ].filter(({ length }) => length >= 8);
}

function hideKnown(secrets: readonly string[]): (text: string) => string {
  return (text) => secrets.reduce((shown, secret) => keyHider(secret)(shown), hideSecrets(text));
}
