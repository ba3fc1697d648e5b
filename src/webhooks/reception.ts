import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SignatureHeader, signedPrefix } from '../api/signature-header.ts';
import { includesSignature, startSigning } from '../api/webhook-signature.ts';

// What Node's own limits leave open: it parses all that one read brought in one go, and reads bodies for as long as there is memory.

/** Held for all senders together until a signature fits. */
const minHeldBytes = 32 * 1024 * 1024;
/** Where the buffer of a body starts; it doubles. */
const firstBytes = 16 * 1024;
/** Hashed in one turn of the event loop: some milliseconds. */
const maxHashedBytes = 2 * 1024 * 1024;
/** Hashed at once; also what a smaller part counts for, of 1/16 of it at least. */
const hashBytes = 64 * 1024;
/** Of a body that nothing signed, what is kept to say why. */
const unsignedBytes = 32 * 1024;

/**
 * A body with the index of the secret that signed it, or why there is none; `unsigned`: the body, unless it is large; `gone`: the sender
 * has left.
 */
export type Reception =
  | { body: Buffer; secret: number }
  | { unsigned: Buffer | undefined }
  | 'too-large'
  | 'full'
  | 'gone';

/** A body whose sender may be anybody. */
interface PendingBody {
  buffer: Buffer;
  bytes: number;
  isDropped: boolean;
  drop: () => void;
}

/**
 * Receives bodies whose senders are unknown until a signature fits, within bounds of memory and of work in one turn of the event loop.
 * Where memory runs out, the largest body is dropped.
 */
export function startReception({ secrets, maxBytes }: { secrets: readonly string[]; maxBytes: number }) {
  const pending = new Set<PendingBody>();
  const maxHeldBytes = Math.max(minHeldBytes, 2 * maxBytes);
  const takeTurn = shareTurns(maxHashedBytes);

  const makeRoom = (): void => {
    const largestLast = [...pending].sort((a, b) => a.buffer.length - b.buffer.length);
    let held = largestLast.reduce((sum, { buffer }) => sum + buffer.length, 0);
    while (held > maxHeldBytes) {
      const largest = largestLast.pop();
      held -= largest?.buffer.length ?? held;
      largest?.drop();
    }
  };
  const add = (body: PendingBody, chunk: Buffer): void => {
    const bytes = body.bytes + chunk.length;
    if (bytes > body.buffer.length) {
      const grown = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(bytes, firstBytes, 2 * body.buffer.length)));
      body.buffer.copy(grown, 0, 0, body.bytes);
      body.buffer = grown;
    }
    chunk.copy(body.buffer, body.bytes);
    body.bytes = bytes;
  };
  const read = (request: IncomingMessage, body: PendingBody): Promise<'whole' | 'too-large' | 'full' | 'gone'> =>
    new Promise((resolve) => {
      body.drop = () => {
        body.isDropped = true;
        body.buffer = Buffer.alloc(0);
        resolve('full');
      };
      request.on('data', (chunk: Buffer) => {
        if (body.isDropped) return;
        if (body.bytes + chunk.length > maxBytes) return resolve('too-large');
        const { length } = body.buffer;
        add(body, chunk);
        if (body.buffer.length > length) makeRoom();
      });
      request.once('end', () => resolve('whole'));
      request.once('close', () => resolve('gone'));
    });
  /** The index of the secret that made one of the signatures, or -1. */
  const findSecret = async (body: PendingBody, { timestamp, signatures }: SignatureHeader): Promise<number> => {
    for (const [index, secret] of secrets.entries()) {
      const signer = startSigning(secret).update(signedPrefix(timestamp));
      for (let at = 0; at <= body.bytes; at += hashBytes) {
        const part = body.buffer.subarray(at, Math.min(body.bytes, at + hashBytes));
        await takeTurn(Math.max(hashBytes / 16, part.length));
        if (body.isDropped) return -1;
        signer.update(part);
      }
      if (includesSignature(signatures, signer.digest('base64url'))) return index;
    }
    return -1;
  };

  return async (request: IncomingMessage, header: SignatureHeader): Promise<Reception> => {
    const body: PendingBody = { buffer: Buffer.alloc(0), bytes: 0, isDropped: false, drop: () => undefined };
    pending.add(body);
    try {
      const ended = await read(request, body);
      if (ended !== 'whole') return ended;
      const secret = await findSecret(body, header);
      if (body.isDropped) return 'full';
      const whole = body.buffer.subarray(0, body.bytes);
      if (secret !== -1) return { body: whole, secret };
      return { unsigned: body.bytes <= unsignedBytes ? whole : undefined };
    } finally {
      pending.delete(body);
      body.isDropped = true;
    }
  };
}

/** Deliveries need a few; the others only wait. */
const maxConnections = 256;

/** Bounds the open connections: a new one closes the one that has been open for the longest without a signed delivery. */
export function boundConnections() {
  // Oldest first.
  const replaceable = new Set<Duplex>();
  return {
    add: (socket: Duplex) => {
      replaceable.add(socket);
      socket.once('close', () => replaceable.delete(socket));
      const [oldest] = replaceable;
      if (replaceable.size > maxConnections) oldest?.destroy();
    },
    /** Keeps the connection of a signed delivery open while the work runs, and counts it as the newest then. */
    keep: async <Result>(socket: Duplex, work: () => Promise<Result>): Promise<Result> => {
      replaceable.delete(socket);
      try {
        return await work();
      } finally {
        if (!socket.destroyed) replaceable.add(socket);
      }
    },
  };
}

/** Resolves once so many bytes of work may be done. */
type TakeTurn = (bytes: number) => Promise<void>;

/** Allows some bytes of work in each turn of the event loop, so that no connection stops the others. */
export function shareTurns(maxBytes: number): TakeTurn {
  let left = maxBytes;
  let next: Promise<void> | undefined;
  const awaitNext = (): Promise<void> => {
    next ??= nextTurn().then(() => {
      left = maxBytes;
      next = undefined;
    });
    return next;
  };
  return async (bytes) => {
    while (left <= 0) await awaitNext();
    left -= bytes;
    awaitNext();
  };
}

/** What is parsed at once: the 64 KB of one read may hold thousands of requests or chunks. */
const sliceBytes = 8 * 1024;
/** What the smallest slice counts for. */
const minSliceBytes = 1024;

/** A connection whose input comes in slices, each in its turn. */
export function sliceInput(socket: Socket, takeTurn: TakeTurn): Duplex {
  let isPushing = false;
  const stream = new Duplex({
    decodeStrings: false,
    read: () => void (isPushing || socket.resume()),
    // Node ends an answer with an empty chunk.
    write: (chunk, encoding, done) => void (chunk.length === 0 ? done() : socket.write(chunk, encoding, done)),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  const push = async (chunk: Buffer): Promise<void> => {
    let isWanted = true;
    for (let at = 0; at < chunk.length && !stream.destroyed; at += sliceBytes) {
      const slice = chunk.subarray(at, at + sliceBytes);
      await takeTurn(Math.max(minSliceBytes, slice.length));
      isWanted = stream.push(slice);
    }
    isPushing = false;
    if (isWanted) socket.resume();
  };
  socket.on('data', (chunk: Buffer) => {
    socket.pause();
    isPushing = true;
    push(chunk).catch(() => stream.destroy());
  });
  socket.once('end', () => stream.push(null));
  socket.once('error', () => stream.destroy());
  socket.once('close', () => stream.destroy());
  return stream;
}
