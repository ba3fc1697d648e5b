import type { Hmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  includesSignature,
  type SignatureHeader,
  signedPrefix,
  startSigning,
} from '../../../model/webhook-signature.ts';
import { shareTurns } from '../upload/turns.ts';

/** Most bodies fit into one; chunks may be a byte each, and are not kept as they come. */
const blockBytes = 16 * 1024;
/** About what a signature in the making takes. */
const signerBytes = 2 * 1024;
/** Held for all senders together until a signature fits. */
const minHeldBytes = 32 * 1024 * 1024;
/** Hashed in one turn of the event loop: some milliseconds. */
const maxTurnBytes = 2 * 1024 * 1024;

export interface ReceptionOptions {
  secrets: readonly string[];
  /** Of one body. */
  maxBytes: number;
  now: () => number;
}

/** A body with the place of the secret that signed it, or why there is none; `gone`: the sender is. */
export type Received = { body: Buffer; secret: number } | 'unsigned' | 'too-large' | 'full' | 'gone';

/** A body of a sender who may be anybody. */
interface Body {
  blocks: Buffer[];
  /** Bytes in the last block. */
  filled: number;
  bytes: number;
  /** Bytes of its blocks. */
  held: number;
  startedMs: number;
  /** Of more than one block: one for each secret, and how many blocks went into them. */
  signing?: Hmac[];
  signed: number;
  settle: (received: Received) => void;
}

/**
 * Receives bodies whose senders are not known until the signature fits: memory for all of them together is bounded, and so is the work in
 * one turn of the event loop. Where memory runs out, the one that held the most for the longest is dropped, so that small and quick
 * deliveries go on beside those that never end.
 */
export function startReception({ secrets, maxBytes, now }: ReceptionOptions) {
  const bodies = new Set<Body>();
  const maxHeldBytes = Math.max(minHeldBytes, 2 * maxBytes);
  const takeTurn = shareTurns(maxTurnBytes);
  let held = 0;

  const add = (body: Body, chunk: Buffer): void => {
    body.bytes += chunk.length;
    for (let at = 0; at < chunk.length && bodies.has(body); ) {
      let block = body.blocks.at(-1);
      if (block === undefined || body.filled === block.length) {
        block = Buffer.allocUnsafeSlow(blockBytes);
        body.blocks.push(block);
        body.filled = 0;
        hold(body, block.length);
      }
      const copied = chunk.copy(block, body.filled, at);
      at += copied;
      body.filled += copied;
    }
  };
  const dearest = (): Body | undefined => {
    const cost = (body: Body) => body.held * (now() - body.startedMs + 1);
    let [found, most]: [Body | undefined, number] = [undefined, -1];
    for (const body of bodies) if (cost(body) > most) [found, most] = [body, cost(body)];
    return found;
  };
  const hold = (body: Body, bytes: number): void => {
    body.held += bytes;
    held += bytes;
    while (held > maxHeldBytes) dearest()?.settle('full');
  };
  /** Signs the blocks that are full, so that what is left to do after the last byte does not grow with the body. */
  const signFull = async (body: Body, timestamp: string): Promise<void> => {
    if (!bodies.has(body)) return;
    if (body.signing === undefined) {
      hold(body, signerBytes * secrets.length);
      body.signing = secrets.map((secret) => startSigning(secret).update(signedPrefix(timestamp)));
    }
    for (; body.signed < body.blocks.length - 1; body.signed += 1) {
      await takeTurn(blockBytes * secrets.length);
      const block = body.blocks[body.signed];
      if (block === undefined) return;
      for (const hmac of body.signing) hmac.update(block);
    }
  };
  const match = async (body: Body, { timestamp, signatures }: SignatureHeader): Promise<number> => {
    const last = body.blocks.at(-1)?.subarray(0, body.filled) ?? Buffer.alloc(0);
    const fitting: boolean[] = [];
    for (const [index, secret] of secrets.entries()) {
      await takeTurn(blockBytes);
      if (!bodies.has(body)) return -1;
      const hmac = body.signing?.[index] ?? startSigning(secret).update(signedPrefix(timestamp));
      fitting.push(includesSignature(signatures, hmac.update(last).digest('base64url')));
    }
    return fitting.indexOf(true);
  };

  return {
    receive: (request: IncomingMessage, header: SignatureHeader): Promise<Received> =>
      new Promise((resolve, reject) => {
        const take = (chunk: Buffer) => {
          if (body.bytes + chunk.length > maxBytes) return body.settle('too-large');
          const blocks = body.blocks.length;
          add(body, chunk);
          if (body.blocks.length <= Math.max(1, blocks)) return;
          work = work.then(() => signFull(body, header.timestamp));
          work.catch(reject);
        };
        const judge = async () => {
          await work;
          const secret = await match(body, header);
          body.settle(secret === -1 ? 'unsigned' : { body: Buffer.concat(body.blocks, body.bytes), secret });
        };
        let work = Promise.resolve();
        const body: Body = {
          blocks: [],
          filled: 0,
          bytes: 0,
          held: 0,
          signed: 0,
          startedMs: now(),
          settle: (received) => {
            if (!bodies.delete(body)) return;
            request.off('data', take);
            held -= body.held;
            body.blocks = [];
            resolve(received);
          },
        };
        bodies.add(body);
        request.on('data', take);
        request.once('end', () => judge().catch(reject));
        request.once('close', () => request.complete || body.settle('gone'));
      }),
  };
}
