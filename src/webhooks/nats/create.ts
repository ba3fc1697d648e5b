import { command } from '../../client/shell.ts';
import { SotraError } from '../../errors.ts';
import type { NatsAddress } from './address.ts';
import { openConnection } from './connection.ts';
import { type InboxStream, makeStreamConfig, openStream } from './stream.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * Connects to the stream of an inbox; `found`: how the servers hold it, `undefined` where they do not. Errors: `network`; `config` also for a
 * stream that is no inbox.
 */
export async function connectInbox(address: NatsAddress, credsFile: string | undefined) {
  const link = await openConnection(address, credsFile);
  const { connection } = link;
  const stream = openStream(link, address.name);
  try {
    const found = (await stream.info())?.config;
    if (found !== undefined) requireForm(address, found);
    return { connection, stream, found };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** What the guarantees of an inbox rest on. */
const form = {
  subjects: 'subjects',
  discard: 'when full',
  discard_new_per_subject: 'refuses a second message of a subject',
  max_msgs_per_subject: 'messages of a subject',
  allow_direct: 'answers from each replica',
};

const defaultReplicas = 3;

/**
 * Makes the stream of an inbox if there is none, and never changes one; returns how many replicas it was made with, `undefined` if it was there.
 * Errors: `network`; `config` if the stream has another number of replicas than is asked for.
 */
export async function makeStream(
  address: NatsAddress,
  { stream, found }: { stream: InboxStream; found: object | undefined },
  replicas: number | undefined,
): Promise<number | undefined> {
  let present = found;
  if (present === undefined) {
    try {
      await stream.create(replicas ?? defaultReplicas);
      return replicas ?? defaultReplicas;
    } catch (error) {
      // Another listener may have made it at the same moment.
      present = (await stream.info())?.config;
      if (present === undefined) throw error;
      requireForm(address, present);
    }
  }
  const { num_replicas: count } = present as Config;
  if (replicas === undefined || count === replicas) return undefined;
  throw new SotraError('config', `the stream ${address.name} has --replicas ${count}, not ${replicas}`, {
    hint: `Omit --replicas, or change the stream: nats stream edit ${address.name} --replicas ${replicas}.`,
  });
}

/** Errors: `config` for a stream that is no inbox, with the address of one beside it. */
function requireForm({ name, servers, tls }: NatsAddress, found: object): void {
  const facts = differences(found as Config, makeStreamConfig(name, 1), form);
  if (facts.length === 0) return;
  const address = `${tls ? 'tls' : 'nats'}://${servers.join(',')}/${name}_2`;
  throw new SotraError('config', `the stream ${name} is not an inbox: ${facts.join('; ')}`, {
    hint: command`Use one beside it: sotra webhook listen --inbox ${address} makes it.`,
  });
}

function differences(found: Config, wanted: Config, words: Readonly<Record<string, string>>): string[] {
  const text = (key: string, config: Config) => String(config[key] ?? 'no');
  return Object.entries(words).flatMap(([key, word]) =>
    text(key, found) === text(key, wanted) ? [] : [`${word} ${text(key, found)}, not ${text(key, wanted)}`],
  );
}
