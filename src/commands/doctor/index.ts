import { existsSync, statSync } from 'node:fs';
import { type Command, defineCommand } from '../../cli/command.ts';
import { type Context, httpTransport } from '../../context.ts';
import { readMessage, SotraError, toSotraError } from '../../errors.ts';
import { buildRequest } from '../../http/client.ts';
import { type NetworkFailure, versionHint } from '../../http/failures.ts';
import { platformRules } from '../../model/platform.ts';
import { command } from '../../model/shell.ts';
import { column, recordView } from '../../output/columns.ts';
import { counted } from '../../output/format.ts';
import { describeKey, readEnv, type Service } from '../../setup/settings.ts';
import { checkPath } from '../auth/index.ts';

const names = {
  node: ['Node', 'version of Node'],
  settings: ['Settings', 'the settings file and its mode'],
  service: ['Service', 'which service is used and why'],
  key: ['Key', 'where the API key comes from and whether it is accepted'],
  reach: ['Reach', 'whether the service answers'],
  tls: ['TLS', 'whether the connection is private'],
  clock: ['Clock', "this machine's clock against the service's"],
  terminal: ['Terminal', 'what the terminal can show'],
  sandbox: ['Sandbox', 'the built-in sandbox'],
} as const;
type CheckName = keyof typeof names;

interface Finding {
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  found: string;
  fix: string | null;
}

type Check = { check: CheckName } & Finding;

interface Diagnosis {
  ok: boolean;
  checks: Check[];
}

const leads = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM', skipped: 'not checked' } as const;
const tones = { ok: 'plain', warning: 'strong', problem: 'loss', skipped: 'muted' } as const;

const checkNames = Object.keys(names) as CheckName[];

const view = recordView<Diagnosis>(
  checkNames.map((name) => {
    const [header, help] = names[name];
    const checkIn = ({ checks }: Diagnosis) => checks.find(({ check }) => check === name) as Check;
    const text = (diagnosis: Diagnosis) => {
      const { state, found, fix } = checkIn(diagnosis);
      return `${leads[state]}: ${found}${fix === null ? '' : `. Fix: ${fix}`}`;
    };
    const show = (diagnosis: Diagnosis) => ({ text: text(diagnosis), tone: tones[checkIn(diagnosis).state] });
    return column.text(name, header, help, text, { cut: true, show });
  }),
);

const doctor = defineCommand({
  words: ['doctor'],
  summary: 'Check everything a command needs, and say how to fix what is wrong',
  description:
    'Requests one place of the leaderboard, nothing else; changes nothing. Exits with the code of the first problem:\n' +
    '3 settings, 4 key, 9 network.',
  params: {},
  examples: [
    { argv: '--sandbox doctor', says: 'without a service' },
    { argv: '--sandbox doctor --json', says: 'as JSON' },
  ],
  uses: ['requests'],
  exitCodes: [3, 4, 9],
  view: async () => view,
  run: async (_, context) => {
    const check = { method: 'GET', path: checkPath };
    if (context.options.preview) return { kind: 'request', request: await context.previewRequest(check) };
    const checks = await examine(context);
    const first = checks.find(({ state }) => state === 'problem')?.check;
    const exitCode = first === undefined ? 0 : first === 'key' ? 4 : first === 'reach' || first === 'tls' ? 9 : 3;
    return { kind: 'answer', answer: { ok: first === undefined, checks } satisfies Diagnosis, view, exitCode };
  },
});

export const commands: readonly Command[] = [doctor];

const ok = (found: string): Finding => ({ state: 'ok', found, fix: null });
const skipped = (found: string): Finding => ({ state: 'skipped', found, fix: null });
const warning = (found: string, fix: string): Finding => ({ state: 'warning', found, fix });
const problem = (found: string, fix: string): Finding => ({ state: 'problem', found, fix });

async function examine(context: Context): Promise<Check[]> {
  const service = await context.service().catch(toSotraError);
  const online =
    service instanceof SotraError || service.kind === 'sandbox' ? undefined : await askService(service, context);
  const findings: Record<CheckName, Finding> = {
    node: checkNode(context),
    settings: await checkSettings(context),
    service: checkService(service),
    key: checkApiKey(service, online),
    reach: checkReach(service, online),
    tls: checkTls(service, online, context),
    clock: checkClock(online, context),
    terminal: checkTerminal(context),
    sandbox: await checkSandbox(context),
  };
  return checkNames.map((check) => ({ check, ...findings[check] }));
}

function checkNode({ io }: Context): Finding {
  const [major = 0, minor = 0] = io.system.node.split('.').map(Number);
  const found = `Node ${io.system.node} on ${io.system.platform}, sotra ${io.version}`;
  return major > 20 || (major === 20 && minor >= 19) ? ok(found) : problem(found, 'install Node 20.19 or newer');
}

async function checkSettings(context: Context): Promise<Finding> {
  const store = await context.store();
  if (!existsSync(store.path)) return ok(`${store.path} does not exist yet: nothing is stored`);
  try {
    const { contexts, aliases = {} } = store.read();
    const count = `contexts: ${Object.keys(contexts).length}, aliases: ${Object.keys(aliases).length}`;
    const mode = statSync(store.path).mode & 0o777;
    const found = `${store.path}, mode ${mode.toString(8).padStart(4, '0')}, ${count}`;
    const isOpen = platformRules(context.io.system.platform).hasModes && (mode & 0o077) !== 0;
    return isOpen ? warning(`${found}: others on this machine may read it`, `chmod 600 ${store.path}`) : ok(found);
  } catch (error) {
    return problem(readMessage(error), readHint(error) ?? 'correct the file or move it away');
  }
}

function checkService(service: Service | SotraError): Finding {
  if (service instanceof SotraError)
    return service.code === 'no-service'
      ? warning(service.message, 'sotra context use clicker (the public deployment), or --sandbox, or SOTRA_BASE_URL')
      : problem(service.message, service.hint ?? 'see sotra context list');
  const { baseUrl, baseUrlSource, context: name, kind } = service;
  if (kind === 'sandbox') return ok('the built-in sandbox, inside this command');
  const found = `${baseUrl}, from ${baseUrlSource === 'context' ? `context ${name}` : baseUrlSource}`;
  const fix = versionHint(baseUrl);
  return fix === undefined ? ok(found) : warning(found, fix);
}

function checkApiKey(service: Service | SotraError, online: ServiceAnswer | undefined): Finding {
  if (service instanceof SotraError) return skipped('there is no service');
  const { apiKey, keyProblem, context: name, kind } = service;
  if (kind === 'sandbox') return ok("the sandbox's own");
  const login = `sotra auth login${name === undefined ? '' : command` --context ${name}`}, or set SOTRA_API_KEY`;
  if (apiKey === null) return problem(keyProblem === undefined ? 'none' : `none: ${keyProblem}`, login);
  const found = String(describeKey(service));
  const status = online?.status;
  if (status === 401 || status === 403) return problem(`${found}; the service refuses it (HTTP ${status})`, login);
  const told = status !== undefined && status < 300 ? `${found}; the service accepts it` : found;
  if (service.keyStore !== 'file') return ok(told);
  return warning(`${told}, unencrypted`, command`sotra auth login --context ${name ?? '<name>'} --store keychain`);
}

interface ServiceAnswer {
  status?: number;
  ms: number;
  dateMs?: number;
  failure?: { message: string; code: string };
}

const maxWaitMs = 10_000;

async function askService({ baseUrl, apiKey }: Service, { io, options }: Context): Promise<ServiceAnswer> {
  const transport = await httpTransport(io);
  const timeoutMs = Math.min(options.timeoutMs, maxWaitMs);
  const caller = { baseUrl, apiKey, userAgent: `sotra/${io.version}` };
  const started = io.now();
  try {
    const limits = { timeoutMs, totalMs: timeoutMs, signal: io.signal };
    const answer = await transport.send(buildRequest({ method: 'GET', path: checkPath }, caller), limits);
    const dateMs = Date.parse(String(answer.headers['date']));
    return { status: answer.status, ms: io.now() - started, ...(Number.isNaN(dateMs) ? {} : { dateMs }) };
  } catch (error) {
    const { message, cause, kind } = error as NetworkFailure;
    const code = String((cause as { code?: unknown } | undefined)?.code ?? '');
    const why = kind === 'timeout' || kind === 'late' ? `no answer within ${timeoutMs / 1000} s` : message;
    return { ms: io.now() - started, failure: { message: why, code } };
  } finally {
    await transport.close();
  }
}

function checkReach(service: Service | SotraError, online: ServiceAnswer | undefined): Finding {
  if (online === undefined || service instanceof SotraError) return skipped('no request is needed');
  const { status, ms, failure } = online;
  if (failure !== undefined)
    return problem(failure.message, 'check the address, the network and any proxy or firewall');
  const found = `HTTP ${status} in ${Math.round(ms)} ms`;
  if (status === undefined || status >= 500) return warning(found, 'the service has a problem: try again later');
  const newAddress = 'set the base URL to the address that it redirects to; keys are not sent there';
  if (status >= 300 && status < 400) return problem(`${found}: a redirect`, newAddress);
  return status === 404 ? warning(found, 'check the path of the base URL: this may not be the service') : ok(found);
}

function checkTls(service: Service | SotraError, online: ServiceAnswer | undefined, { io }: Context): Finding {
  if (online === undefined || service instanceof SotraError) return skipped('no connection is needed');
  if (service.baseUrl.startsWith('http:')) return ok('plain http, on this machine only');
  const code = online.failure?.code ?? '';
  if (/CERT|TLS|SSL|LEAF/.test(code))
    return problem(
      `the certificate is not trusted (${code})`,
      'check the address and the clock; for a certificate authority of your own set NODE_EXTRA_CA_CERTS=<file>',
    );
  if (readEnv(io.env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0')
    return warning('certificates are not checked', 'unset NODE_TLS_REJECT_UNAUTHORIZED');
  return online.failure === undefined ? ok('the certificate is trusted') : skipped('the service did not answer');
}

function checkClock(online: ServiceAnswer | undefined, { io }: Context): Finding {
  if (online?.dateMs === undefined) return skipped('no time to compare with');
  // The header has whole seconds, and was written while we waited.
  const skewMs = io.now() - online.ms / 2 - online.dateMs - 500;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (seconds <= 60) return ok(`within ${Math.max(2, seconds)} s of the service's`);
  return warning(`${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's`, 'set the clock of this machine');
}

function checkTerminal({ io, options }: Context): Finding {
  const { out } = io;
  if (!out.isTTY) return ok('stdout is not a terminal: results are rows separated by tabs');
  const colors =
    options.noColor || out.colorLevel === 0 ? 'no colors' : `${['', 16, 256, '16 million'][out.colorLevel]} colors`;
  const found = `${out.width} columns, ${colors}`;
  const locale = readEnv(io.env, 'LC_ALL') ?? readEnv(io.env, 'LC_CTYPE') ?? readEnv(io.env, 'LANG');
  if (platformRules(io.system.platform).isUtf8 || /utf-?8/i.test(locale ?? '')) return ok(found);
  const more = `${found}; the locale ${locale ?? 'is not set and'} says no UTF-8`;
  return warning(more, 'if dashes or dots look wrong, set a UTF-8 locale: LC_ALL=C.UTF-8');
}

async function checkSandbox(context: Context): Promise<Finding> {
  const file = await context.sandboxFile();
  if (!existsSync(file)) return ok('not created yet: the first --sandbox creates it');
  try {
    const { countRows, openDb } = await import('../../sandbox/db/store.ts');
    const db = openDb(file);
    const trades = countRows(db, 'trade');
    db.close();
    return ok(`${file}, ${counted(trades, 'trade')}`);
  } catch (error) {
    return problem(readMessage(error), readHint(error) ?? 'sotra sandbox reset');
  }
}

function readHint(error: unknown): string | undefined {
  return error instanceof SotraError ? error.hint : undefined;
}
