import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeFlags } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { chosenContext, dataDirectory, readEnv } from '../../lib/config/config.ts';
import { warnOfReaders } from '../../lib/files/durable-file.ts';
import { counted } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/view.ts';
import { type Inbox, type NatsAddress, readNatsAddress } from '../../webhooks/inbox.ts';
import { type LocalOptions, openLocalInbox } from '../../webhooks/local/local-inbox.ts';
import { storeFile } from '../../webhooks/local/store.ts';

/** Which inbox: a local store by its name, or one on a NATS cluster. */
export interface InboxLocation {
  name?: string | undefined;
  inbox?: string | undefined;
  /** The file with its credentials. */
  inboxCreds?: string | undefined;
}

const defaultName = 'default';

/** `repeatsMs` and `keep` are for local stores only. */
interface OpenOptions extends Pick<LocalOptions, 'listens' | 'repeatsMs' | 'keep'> {
  /** Of the stream, which is created if it does not exist. */
  replicas?: number | undefined;
}

/** Opens an inbox, made if absent. Errors: `locked`, `local-file`; `network`, `config` for a NATS stream. */
export async function openInbox(location: InboxLocation, context: Context, options: OpenOptions = {}): Promise<Inbox> {
  const cluster = await findCluster(location, context, options);
  if (cluster !== undefined) {
    if (cluster.credsFile !== undefined) warnOfReaders(cluster.credsFile, context);
    const { openNats } = await import('../../webhooks/nats/nats-inbox.ts');
    const { name, servers } = cluster.address;
    const onMade = (replicas: number) =>
      context.note(`Made the stream ${name} at ${servers.join(', ')}: ${counted(replicas, 'replica')}.`);
    const make = options.listens ? { replicas: options.replicas, onMade } : undefined;
    return openNats({ ...cluster, io: context.io, make });
  }
  const name = location.name ?? defaultName;
  const folder = join(storesFolder(context), name);
  return openLocalInbox({ folder, name, ...options, io: context.io });
}

/** Where an inbox is: its folder, or the stream. Errors: `usage`. */
export async function placeOfInbox(location: InboxLocation, context: Context, options?: OpenOptions): Promise<string> {
  const { address } = (await findCluster(location, context, options)) ?? {};
  if (address === undefined) return join(storesFolder(context), location.name ?? defaultName);
  return `the stream ${address.name} at ${address.servers.join(', ')}`;
}

/**
 * The result of `act` with an existing inbox; of `empty` if nothing was stored under the default name. Errors: `not-found` for another
 * name; those of `openInbox`.
 */
export async function withInbox(
  location: InboxLocation,
  context: Context,
  empty: () => Result,
  act: (inbox: Inbox) => Promise<Result>,
): Promise<Result> {
  const folder = storesFolder(context);
  const holdsStore = (each: string) => existsSync(join(folder, each, storeFile));
  const { name = defaultName } = location;
  if ((await findCluster(location, context)) === undefined && !holdsStore(name)) {
    if (name === defaultName) return empty();
    const known = existsSync(folder) ? readdirSync(folder).filter(holdsStore) : [];
    throw new SotraError('not-found', `no listener stored anything under the name ${name}`, {
      hint: known.length === 0 ? 'sotra webhook listen stores deliveries.' : `Known: ${known.join(', ')}.`,
    });
  }
  const inbox = await openInbox(location, context);
  try {
    return await act(inbox);
  } finally {
    await inbox.close();
  }
}

/** The inbox of a cluster that flags or the context in use name, and the file of its credentials. Errors: `usage`. */
async function findCluster(
  { name, inbox, inboxCreds }: InboxLocation,
  context: Context,
  { replicas, keep, repeatsMs }: OpenOptions = {},
): Promise<{ address: NatsAddress; credsFile: string | undefined } | undefined> {
  const { options, io } = context;
  const stored = (await context.config.settings()).read();
  const settings = stored.contexts[chosenContext(options, io.env, stored) ?? ''] ?? {};
  const url = name === undefined ? (inbox ?? settings.inbox) : undefined;
  const lost = inboxCreds === undefined ? (replicas === undefined ? undefined : '--replicas') : '--inbox-creds';
  if (url === undefined && lost !== undefined)
    throw usageError(`${lost} needs an inbox`, 'Add --inbox nats://host:4222/NAME, or omit it.');
  if (url === undefined) return undefined;
  const address = readNatsAddress(url);
  const flag = keep !== undefined ? '--keep' : '--repeats-within';
  if (keep !== undefined || repeatsMs !== undefined)
    throw usageError(
      `${flag} is for a local store: an --inbox keeps events, and recognizes repeats, as long as its stream does`,
      `Omit it, and set how long on the servers: nats stream edit ${address.name} --max-age 7d.`,
    );
  const credsFile = inboxCreds ?? readEnv(io.env, 'SOTRA_NATS_CREDS') ?? settings.inboxCreds;
  return { address, credsFile };
}

function storesFolder(context: Context): string {
  return join(dataDirectory(context.io), 'webhook', 'inbox');
}

/** The flags of a command line that name an inbox. */
export function inboxFlags({ name, inbox }: InboxLocation): string[] {
  return writeFlags({ '--name': name, '--inbox': inbox });
}
