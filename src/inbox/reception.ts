import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SignatureHeader, signedPrefix } from '../model/signature-header.ts';
import { includesSignature, startSigning } from '../model/webhook-signature.ts';

// What Node's own limits leave open: it parses all that one read brought in one go, and reads bodies for as long as there is memory.

/** Held for all senders together until a signature fits. */
const minHeldBytes = 32 * 1024 * 1024;
/** Where the buffer of a body starts; it doubles. */
const firstBytes = 16 * 1024;
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
  drop: () => void;
}

/** Receives bodies whose senders are unknown until a signature fits, in bounded memory: where it runs out, the largest body is dropped. */
export function startReception({ secrets, maxBytes }: { secrets: readonly string[]; maxBytes: number }) {
  const pending = new Set<PendingBody>();
  const maxHeldBytes = Math.max(minHeldBytes, 2 * maxBytes);

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
      makeRoom();
    }
    chunk.copy(body.buffer, body.bytes);
    body.bytes = bytes;
  };
  return (request: IncomingMessage, { timestamp, signatures }: SignatureHeader): Promise<Reception> =>
    new Promise((resolve) => {
      const signers = secrets.map((secret) => startSigning(secret).update(signedPrefix(timestamp)));
      const end = (reception: Reception): void => {
        pending.delete(body);
        resolve(reception);
      };
      const drop = () => {
        body.buffer = Buffer.alloc(0);
        end('full');
      };
      const body: PendingBody = { buffer: Buffer.alloc(0), bytes: 0, drop };
      pending.add(body);
      request.on('data', (chunk: Buffer) => {
        if (!pending.has(body)) return;
        if (body.bytes + chunk.length > maxBytes) return end('too-large');
        for (const signer of signers) signer.update(chunk);
        add(body, chunk);
      });
      request.once('end', () => {
        if (!pending.has(body)) return;
        const secret = signers.findIndex((signer) => includesSignature(signatures, signer.digest('base64url')));
        const whole = body.buffer.subarray(0, body.bytes);
        if (secret !== -1) end({ body: whole, secret });
        else end({ unsigned: body.bytes <= unsignedBytes ? whole : undefined });
      });
      request.once('close', () => end('gone'));
    });
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
