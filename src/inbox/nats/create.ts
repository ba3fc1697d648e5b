import { SotraError } from '../../errors.ts';
import type { NatsAddress } from './address.ts';
import { openConnection } from './connection.ts';
import { openStreams, type StreamShape, type Streams } from './streams.ts';
import { subjectsOf } from './subjects.ts';

/** What an inbox keeps, and how safely. */
export interface InboxShape {
  replicas: number;
  /** 0: forever. */
  keepMs: number;
  /** -1: as much as the servers have. */
  maxBytes: number;
}

/** The streams that an inbox consists of: its events, where each of them is, and what became of them. */
function shapesOf(name: string, { replicas, keepMs, maxBytes }: InboxShape): StreamShape[] {
  const subjects = subjectsOf(name);
  const shapeOf = (stream: string, whenFull: StreamShape['whenFull'], more: Partial<StreamShape>) => ({
    ...{ name: stream, subjects: subjects.streams[stream] ?? [], replicas, maxAgeMs: keepMs },
    ...{ maxBytes: -1, maxPerSubject: -1, whenFull, ...more },
  });
  return [
    // A full inbox refuses: removing the oldest event might remove one that waits to be forwarded.
    shapeOf(name, 'refuse', { maxBytes }),
    shapeOf(subjects.places, 'remove-oldest', {}),
    shapeOf(subjects.state, 'remove-oldest', { maxPerSubject: 1 }),
  ];
}

/** What is to be made, and how to make it; `missing` is empty where all is there already. */
export interface InboxPlan {
  missing: StreamShape[];
  make: () => Promise<void>;
  close: () => Promise<void>;
}

/** Compares what is there with what is asked for. Errors: `conflict` naming what differs; `network`, `config`. */
export async function planInbox(
  address: NatsAddress,
  credsFile: string | undefined,
  shape: InboxShape,
): Promise<InboxPlan> {
  const link = await openConnection(address, credsFile);
  const { connection } = link;
  try {
    const streams = openStreams(link);
    const missing: StreamShape[] = [];
    for (const wanted of shapesOf(address.name, shape)) if (!(await isThere(wanted, streams))) missing.push(wanted);
    return {
      missing,
      make: async () => {
        for (const each of missing) await streams.create(each);
      },
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function isThere(wanted: StreamShape, streams: Streams): Promise<boolean> {
  const found = await streams.shape(wanted.name);
  if (found === undefined) return false;
  const keys = Object.keys(wanted) as (keyof StreamShape)[];
  const different = keys.filter((key) => String(found[key]) !== String(wanted[key]));
  if (different.length === 0) return true;
  const facts = different.map((key) => `${wordsFor[key]} ${found[key]}, not ${wanted[key]}`);
  throw new SotraError('conflict', `the stream ${wanted.name} exists and is another one: ${facts.join('; ')}`, {
    hint: 'Ask for the same, choose another name, or change the stream with the tools of NATS.',
  });
}

const wordsFor: Record<keyof StreamShape, string> = {
  name: 'name',
  subjects: 'subjects',
  replicas: 'replicas',
  maxAgeMs: 'keeps for (ms)',
  maxBytes: 'largest size in bytes',
  maxPerSubject: 'messages per subject',
  whenFull: 'when full',
};
