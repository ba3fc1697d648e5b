import { checkBaseUrl } from '../../api/http-address.ts';
import { safeText } from '../../api/safe-text.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage, usageError } from '../../errors.ts';
import {
  chosenContext,
  contextNames,
  findContext,
  presets,
  readOrigin,
  type StoredContext,
  type StoredSettings,
} from '../../lib/config/settings.ts';
import { mayAsk } from '../../lib/output/confirm.ts';
import { pick } from '../../lib/output/pick.ts';
import { checkName } from '../context/entry.ts';

/** The context to store a key for. */
export interface Target {
  name: string;
  baseUrl: string;
  origin: string;
  /** Its stored values. */
  before: StoredContext;
}

/**
 * The context to log in to, and whether it was named; `undefined` for the sandbox. Asks if nothing names a service. Errors: `usage`
 * without a terminal, for an unknown context, and for an address of another origin.
 */
export async function chooseTarget(
  context: Context,
  stored: StoredSettings,
): Promise<{ target: Target; isNamed: boolean } | undefined> {
  const { sandbox, context: typed, baseUrl } = context.options;
  if (sandbox || typed === 'sandbox') return undefined;
  const name = chosenContext(context.options, context.io.env, stored);
  if (name !== undefined && name !== 'sandbox') return { target: findTarget(name, baseUrl, stored), isNamed: true };
  const address = baseUrl ?? (await askService(context));
  if (address === undefined) return undefined;
  const known = Object.keys(presets).find((each) => presets[each]?.baseUrl === checkBaseUrl(address));
  return { target: findTarget(known ?? suggestName(address), address, stored), isNamed: false };
}

/** The address of a service; `undefined` for the sandbox. */
async function askService(context: Context): Promise<string | undefined> {
  if (!mayAsk(context))
    throw usageError(
      'no service is chosen, and there is no terminal to ask on',
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

function findTarget(name: string, address: string | undefined, stored: StoredSettings): Target {
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
  return { name, baseUrl, origin, before: stored.contexts[name] ?? {} };
}
