import { SotraError } from '../../errors.ts';
import { command } from '../../model/shell.ts';
import type { NatsAddress } from './address.ts';
import { openConnection } from './connection.ts';
import { type InboxShape, makeStreamConfig, openStream } from './stream.ts';

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

/** Refuses a stream that is no inbox, or one of the form that older versions made. Errors: `config` with the command that makes a new one. */
function requireForm({ name, servers, tls }: NatsAddress, found: object): void {
  const facts = differences(found as Config, makeStreamConfig(name, { replicas: 1, keepMs: 0, maxBytes: -1 }), form);
  if (facts.length === 0) return;
  const address = `${tls ? 'tls' : 'nats'}://${servers.join(',')}/${name}_2`;
  throw new SotraError('config', `the stream ${name} is no inbox of this version: ${facts.join('; ')}`, {
    hint: command`Make one beside it: sotra inbox create --inbox ${address}, and use that; the service then sends to the new one.`,
  });
}

/** Errors: `conflict` naming what differs from what is asked for. */
export function requireShape(name: string, found: object, shape: InboxShape): void {
  const words = { num_replicas: 'replicas', max_age: 'keeps for (ms)', max_bytes: 'largest size in bytes' };
  const facts = differences(found as Config, makeStreamConfig(name, shape), words);
  if (facts.length === 0) return;
  throw new SotraError('conflict', `the stream ${name} exists and is another one: ${facts.join('; ')}`, {
    hint: 'Ask for the same, choose another name, or change the stream with the tools of NATS.',
  });
}

function differences(found: Config, wanted: Config, words: Readonly<Record<string, string>>): string[] {
  const text = (key: string, config: Config) =>
    String(key === 'max_age' ? Number(config[key]) / 1e6 : (config[key] ?? 'no'));
  return Object.entries(words).flatMap(([key, word]) =>
    text(key, found) === text(key, wanted) ? [] : [`${word} ${text(key, found)}, not ${text(key, wanted)}`],
  );
}
