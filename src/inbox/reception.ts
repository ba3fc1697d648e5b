import type { Hmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type SignatureHeader, signedPrefix } from '../model/signature-header.ts';
import { includesSignature, startSigning } from '../model/webhook-signature.ts';

/** Most bodies fit into one; chunks, which may be a byte each, are copied into it. */
const blockBytes = 16 * 1024;
/** Roughly what an unfinished signature takes. */
const signerBytes = 2 * 1024;
/** Held for all senders together until a signature fits. */
const minHeldBytes = 32 * 1024 * 1024;
/** Hashed in one turn of the event loop: some milliseconds. */
const maxTurnBytes = 2 * 1024 * 1024;

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
  /** As its head says; 0 where it comes in chunks. */
  wholeBytes: number;
  blocks: Buffer[];
  /** Bytes in the last block. */
  filled: number;
  bytes: number;
  /** Memory that it takes, in bytes. */
  held: number;
  startedMs: number;
  /** One for each secret, once there is more than one block. */
  signers?: Hmac[];
  /** How many blocks the signers have taken. */
  signed: number;
  settle: (result: Reception) => void;
}

/**
 * Receives bodies whose senders are unknown until a signature fits, within bounds of memory and of work in one turn of the event loop.
 * Where memory runs out, the body that holds the most for the longest is dropped.
 */
export function startReception({
  secrets,
  maxBytes,
  now,
}: {
  secrets: readonly string[];
  maxBytes: number;
  now: () => number;
}) {
  const bodies = new Set<PendingBody>();
  const maxHeldBytes = Math.max(minHeldBytes, 2 * maxBytes);
  const takeTurn = shareTurns(maxTurnBytes);
  let held = 0;

  const add = (body: PendingBody, chunk: Buffer): void => {
    body.bytes += chunk.length;
    for (let at = 0; at < chunk.length && bodies.has(body); ) {
      let block = body.blocks.at(-1);
      if (block === undefined || body.filled === block.length) {
        const left = body.wholeBytes - body.bytes + chunk.length - at;
        block = Buffer.allocUnsafe(left > 0 ? Math.min(blockBytes, left) : blockBytes);
        body.blocks.push(block);
        body.filled = 0;
        hold(body, block.length);
      }
      const copied = chunk.copy(block, body.filled, at);
      at += copied;
      body.filled += copied;
    }
  };
  const costliest = (): PendingBody | undefined => {
    const cost = (body: PendingBody) => body.held * (now() - body.startedMs + 1);
    let [found, max]: [PendingBody | undefined, number] = [undefined, -1];
    for (const body of bodies) if (cost(body) > max) [found, max] = [body, cost(body)];
    return found;
  };
  const hold = (body: PendingBody, bytes: number): void => {
    body.held += bytes;
    held += bytes;
    while (held > maxHeldBytes) costliest()?.settle('full');
  };
  /** Signs full blocks as they come, so that the work after the last byte does not grow with the body. */
  const signFull = async (body: PendingBody, timestamp: string): Promise<void> => {
    if (!bodies.has(body)) return;
    if (body.signers === undefined) {
      hold(body, signerBytes * secrets.length);
      body.signers = secrets.map((secret) => startSigning(secret).update(signedPrefix(timestamp)));
    }
    for (; body.signed < body.blocks.length - 1; body.signed += 1) {
      await takeTurn(blockBytes * secrets.length);
      const block = body.blocks[body.signed];
      if (block === undefined) return;
      for (const signer of body.signers) signer.update(block);
    }
  };
  const findSecret = async (body: PendingBody, { timestamp, signatures }: SignatureHeader): Promise<number> => {
    const last = body.blocks.at(-1)?.subarray(0, body.filled) ?? Buffer.alloc(0);
    const fitting: boolean[] = [];
    for (const [index, secret] of secrets.entries()) {
      const turn = takeTurn(blockBytes);
      if (turn !== undefined) await turn;
      if (!bodies.has(body)) return -1;
      const signer = body.signers?.[index] ?? startSigning(secret).update(signedPrefix(timestamp));
      fitting.push(includesSignature(signatures, signer.update(last).digest('base64url')));
    }
    return fitting.indexOf(true);
  };

  return (request: IncomingMessage, header: SignatureHeader): Promise<Reception> =>
    new Promise((resolve, reject) => {
      const take = (chunk: Buffer) => {
        if (body.bytes + chunk.length > maxBytes) return body.settle('too-large');
        const blocks = body.blocks.length;
        add(body, chunk);
        if (body.blocks.length <= Math.max(1, blocks)) return;
        signing = signing.then(() => signFull(body, header.timestamp));
        signing.catch(reject);
      };
      const finish = async () => {
        await signing;
        const secret = await findSecret(body, header);
        if (secret !== -1) body.settle({ body: wholeOf(body), secret });
        else body.settle({ unsigned: body.bytes > unsignedBytes ? undefined : wholeOf(body) });
      };
      let signing = Promise.resolve();
      const body: PendingBody = {
        wholeBytes: Number(request.headers['content-length'] ?? 0),
        blocks: [],
        filled: 0,
        bytes: 0,
        held: 0,
        signed: 0,
        startedMs: now(),
        settle: (result) => {
          if (!bodies.delete(body)) return;
          request.off('data', take);
          held -= body.held;
          body.blocks = [];
          resolve(result);
        },
      };
      bodies.add(body);
      request.on('data', take);
      request.once('end', () => finish().catch(reject));
      request.once('close', () => request.complete || body.settle('gone'));
    });
}

function wholeOf({ blocks, bytes }: PendingBody): Buffer {
  const [first] = blocks;
  return first?.length === bytes ? first : Buffer.concat(blocks, bytes);
}

/** Deliveries need a few; the others only wait. */
const maxConnections = 256;

/** Bounds the open connections: a new one closes the one that has been open for the longest without a signed delivery. */
export function boundConnections() {
  // Oldest first.
  const open = new Set<Duplex>();
  const kept = new Map<Duplex, number>();
  return {
    add: (socket: Duplex) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      if (open.size <= maxConnections) return;
      for (const oldest of open)
        if (!kept.has(oldest)) {
          oldest.destroy();
          return;
        }
    },
    /** Keeps the connection of a signed delivery open while the work runs, and counts it as the newest then. */
    keep: async <Result>(socket: Duplex, work: () => Promise<Result>): Promise<Result> => {
      kept.set(socket, (kept.get(socket) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = (kept.get(socket) ?? 1) - 1;
        if (left > 0) kept.set(socket, left);
        else kept.delete(socket);
        if (open.delete(socket)) open.add(socket);
      }
    },
  };
}

/** Allows so many bytes of work: at once, or when the promise resolves. */
type TakeTurn = (bytes: number) => Promise<void> | undefined;

/** Allows some bytes of work in each turn of the event loop, so that no connection stops the others. */
export function shareTurns(maxBytes: number): TakeTurn {
  const waiting: { bytes: number; go: () => void }[] = [];
  let spent = 0;
  const turn = () => {
    spent = 0;
    while (spent < maxBytes) {
      const next = waiting.shift();
      if (next === undefined) break;
      spent += next.bytes;
      next.go();
    }
    if (spent > 0) setImmediate(turn);
  };
  return (bytes) => {
    if (spent === 0) setImmediate(turn);
    if (spent >= maxBytes || waiting.length > 0) return new Promise((go) => void waiting.push({ bytes, go }));
    spent += bytes;
    return undefined;
  };
}

/** What is parsed at once: the 64 KB of one read may hold thousands of requests or chunks. */
const sliceBytes = 8 * 1024;
/** What the smallest slice counts for. */
const minSliceBytes = 1024;

/** A connection whose input comes in slices, each in its turn. */
export function sliceInput(socket: Socket, takeTurn: TakeTurn): Duplex {
  let [isWanted, wake] = [false, () => {}];
  const stream = new Duplex({
    decodeStrings: false,
    read: () => {
      isWanted = true;
      wake();
    },
    write: (chunk, encoding, done) => void socket.write(chunk, encoding, done),
    // Node ends an answer with an empty chunk, which would be a write of its own.
    writev: (chunks, done) => {
      const full = chunks.filter(({ chunk }) => chunk.length > 0);
      socket.cork();
      for (const [at, { chunk, encoding }] of full.entries())
        socket.write(chunk, encoding, at === full.length - 1 ? done : undefined);
      socket.uncork();
      if (full.length === 0) done();
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  const offer = (slice: Buffer): Promise<void> | undefined => {
    isWanted = false;
    if (stream.destroyed || stream.push(slice) || isWanted) return undefined;
    return new Promise((resolve) => {
      wake = resolve;
    });
  };
  const push = (slice: Buffer): Promise<void> | undefined => {
    const turn = takeTurn(Math.max(minSliceBytes, slice.length));
    return turn === undefined ? offer(slice) : turn.then(() => offer(slice));
  };
  let pushed = Promise.resolve();
  const pushRest = async (chunk: Buffer, first: Promise<void> | undefined): Promise<void> => {
    await first;
    for (let at = sliceBytes; at < chunk.length; at += sliceBytes) await push(chunk.subarray(at, at + sliceBytes));
    socket.resume();
  };
  socket.on('data', (chunk: Buffer) => {
    const first = push(chunk.subarray(0, sliceBytes));
    // Most requests come in one slice, in their turn.
    if (first === undefined && chunk.length <= sliceBytes) return;
    socket.pause();
    pushed = pushRest(chunk, first);
    pushed.catch(() => stream.destroy());
  });
  socket.once('end', () => void pushed.then(() => stream.push(null)).catch(() => undefined));
  socket.once('error', () => stream.destroy());
  socket.once('close', () => stream.destroy());
  return stream;
}
