import { statSync } from 'node:fs';
import { buildRequest } from '../../client/client.ts';
import { findRedirect, isWebPage, maxRedirects, NetworkFailure, sendError } from '../../client/failures.ts';
import { explainRequestError, versionHint } from '../../client/hints.ts';
import { createNetwork } from '../../client/network.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, toSotraError } from '../../errors.ts';
import { describeKey, readEnv, type Service, sandboxFile } from '../../lib/config/config.ts';
import { platformRules } from '../../lib/io.ts';
import { counted } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/view.ts';
import { checkRequest } from '../auth/login.ts';

const checkNames = ['node', 'settings', 'service', 'key', 'reach', 'tls', 'clock', 'sandbox'] as const;

type CheckName = (typeof checkNames)[number];

interface Finding {
  state: 'ok' | 'warning' | 'problem' | 'skipped';
  found: string;
  fix: string | null;
}

export type Check = { check: CheckName } & Finding;

export interface Diagnosis {
  ok: boolean;
  checks: Check[];
}

/** The diagnosis; with `--dry-run` its request. */
export async function runDoctor(context: Context): Promise<Result> {
  if (context.options.preview) return { kind: 'request', request: await context.client.previewRequest(checkRequest) };
  const answer = await diagnose(context);
  const failure = findProblem(answer.checks);
  return { kind: 'answer', answer, ...(failure !== undefined && { failure, exitCode: failure.exitCode }) };
}

/** The first problem as an error: 3 for settings, 4 for the key, 9 for the network. */
function findProblem(checks: readonly Check[]): SotraError | undefined {
  const problem = checks.find(({ state }) => state === 'problem');
  if (problem === undefined) return undefined;
  const { check, found, fix } = problem;
  const code = check === 'key' ? 'key-refused' : check === 'reach' || check === 'tls' ? 'network' : 'config';
  return new SotraError(code, `${check}: ${found}`, { hint: fix ?? undefined });
}

/** Checks settings, key and connection, with one request at most. */
export async function diagnose(context: Context): Promise<Diagnosis> {
  const service = await context.config.service().catch(toSotraError);
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
    sandbox: await checkSandbox(context),
  };
  const checks = checkNames.map((check): Check => ({ check, ...findings[check] }));
  return { ok: checks.every(({ state }) => state !== 'problem'), checks };
}

const ok = (found: string): Finding => ({ state: 'ok', found, fix: null });
const skipped = (found: string): Finding => ({ state: 'skipped', found, fix: null });
const warning = (found: string, fix: string): Finding => ({ state: 'warning', found, fix });
const problem = (found: string, fix: string): Finding => ({ state: 'problem', found, fix });

function checkNode({ io }: Context): Finding {
  const [major = 0, minor = 0] = io.system.node.split('.').map(Number);
  const found = `Node ${io.system.node} on ${io.system.platform}, sotra ${io.version}`;
  return major > 20 || (major === 20 && minor >= 19) ? ok(found) : problem(found, 'install Node 20.19 or newer');
}

async function checkSettings(context: Context): Promise<Finding> {
  const store = await context.config.settings();
  try {
    const file = statSync(store.path, { throwIfNoEntry: false });
    if (file === undefined) return ok(`${store.path} does not exist yet: nothing is stored`);
    const { contexts, aliases = {} } = store.read();
    const count = `contexts: ${Object.keys(contexts).length}, aliases: ${Object.keys(aliases).length}`;
    const mode = file.mode & 0o777;
    const found = `${store.path}, mode ${mode.toString(8).padStart(4, '0')}, ${count}`;
    const isOpen = platformRules(context.io.system.platform).hasModes && (mode & 0o077) !== 0;
    return isOpen ? warning(`${found}: other users on this machine can read it`, `chmod 600 ${store.path}`) : ok(found);
  } catch (error) {
    return problem(readMessage(error), readHint(error) ?? 'fix the file or move it away');
  }
}

function checkService(service: Service | SotraError): Finding {
  if (service instanceof SotraError)
    return service.code === 'no-service'
      ? warning(service.message, 'sotra auth login; or use --sandbox, or set SOTRA_BASE_URL')
      : problem(service.message, service.hint ?? 'correct SOTRA_BASE_URL, --base-url or the context');
  const { baseUrl, baseUrlSource, context: name, kind } = service;
  if (kind === 'sandbox') return ok('the built-in sandbox, inside this command');
  const found = `${baseUrl}, from ${baseUrlSource === 'context' ? `context ${name}` : baseUrlSource}`;
  const fix = versionHint(baseUrl);
  return fix === undefined ? ok(found) : warning(found, fix);
}

function checkApiKey(service: Service | SotraError, online: ServiceAnswer | undefined): Finding {
  if (service instanceof SotraError) return skipped('no service is configured');
  const { apiKey, keyProblem, context: name, kind } = service;
  if (kind === 'sandbox') return ok('built into the sandbox');
  const login = `sotra auth login${name === undefined ? '' : command` --context ${name}`}, or set SOTRA_API_KEY`;
  if (apiKey === null) return problem(keyProblem === undefined ? 'none' : `none: ${keyProblem}`, login);
  const found = String(describeKey(service));
  const status = online?.isOfService ? online.status : undefined;
  if (status === 401 || status === 403) return problem(`${found}; the service rejected it (HTTP ${status})`, login);
  const checked = status !== undefined && status < 300 ? `${found}; the service accepts it` : found;
  if (service.keyStore !== 'file') return ok(checked);
  return warning(`${checked}, unencrypted`, command`sotra auth login --context ${name ?? '<name>'} --store keychain`);
}

interface ServiceAnswer {
  status?: number;
  /** Not a web page, which is of a proxy, a bot check or a web server. */
  isOfService?: boolean;
  ms: number;
  /** Not a number if the service sent no time. */
  dateMs?: number;
  failure?: SotraError;
}

const maxWaitMs = 10_000;

async function askService({ baseUrl, apiKey }: Service, { io, options }: Context): Promise<ServiceAnswer> {
  const transport = await createNetwork(io);
  const timeoutMs = Math.min(options.timeoutMs, maxWaitMs);
  const limits = { timeoutMs, totalMs: timeoutMs, maxBytes: 0, signal: io.signal };
  let request = buildRequest(checkRequest, { baseUrl, apiKey, userAgent: `sotra/${io.version}` });
  const started = io.now();
  try {
    let answer = await transport.send(request, limits);
    for (let redirects = 0; redirects < maxRedirects; redirects += 1) {
      const url = findRedirect(request, answer);
      if (url === undefined) break;
      request = { ...request, url };
      answer = await transport.send(request, limits);
    }
    const dateMs = Date.parse(String(answer.headers['date']));
    return { status: answer.status, isOfService: !isWebPage(answer), ms: io.now() - started, dateMs };
  } catch (error) {
    const ms = io.now() - started;
    const hintConfig = { baseUrl, timeoutMs, maxTimeMs: timeoutMs, maxWaitMs };
    return { ms, failure: explainRequestError(sendError(request, error, hintConfig), { request }, hintConfig) };
  } finally {
    await transport.close();
  }
}

function checkReach(service: Service | SotraError, online: ServiceAnswer | undefined): Finding {
  if (online === undefined || service instanceof SotraError) return skipped('no request was needed');
  const { status, ms, failure } = online;
  if (failure !== undefined) return problem(failure.message, failure.hint ?? 'check the address and the network');
  const found = `HTTP ${status} in ${Math.round(ms)} ms`;
  if (status === undefined || status >= 500) return warning(found, 'the service has a problem: try again later');
  if (status >= 300 && status < 400) return problem(`${found}: a redirect`, 'change the base URL if the service moved');
  if (status === 404) return warning(found, 'check the path of the base URL: this may not be the service');
  const notService = 'check the base URL and the network: a proxy, a bot check or a web server answered';
  return online.isOfService ? ok(found) : problem(`${found}: a web page`, notService);
}

function checkTls(service: Service | SotraError, online: ServiceAnswer | undefined, { io }: Context): Finding {
  if (online === undefined || service instanceof SotraError) return skipped('no connection was needed');
  if (service.baseUrl.startsWith('http:')) return ok('plain http to a loopback address');
  const { message = '', hint = '', cause } = online.failure ?? {};
  if (cause instanceof NetworkFailure && ['untrusted', 'plain'].includes(cause.kind)) return problem(message, hint);
  if (readEnv(io.env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0')
    return warning('certificates are not checked', 'unset NODE_TLS_REJECT_UNAUTHORIZED');
  return online.failure === undefined ? ok('the certificate is trusted') : skipped('the service did not answer');
}

function checkClock(online: ServiceAnswer | undefined, { io }: Context): Finding {
  if (!online?.dateMs) return skipped('the service sent no time');
  // The header has whole seconds, and was written while we waited.
  const skewMs = io.now() - online.ms / 2 - online.dateMs - 500;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (seconds <= 60) return ok(`within ${Math.max(2, seconds)} s of the service's`);
  return warning(`${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service's`, 'set the system clock');
}

async function checkSandbox(context: Context): Promise<Finding> {
  const file = sandboxFile(context.io);
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined)
      return ok('not created yet: the first command with --sandbox creates it');
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
