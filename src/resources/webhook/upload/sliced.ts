import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TakeTurn } from './turns.ts';

/** What is parsed at once: 64 KB, as they are read, may hold thousands of requests or chunks. */
const sliceBytes = 8 * 1024;

/** A connection that gives what it reads in slices, each when its turn comes. */
export function sliced(socket: Socket, takeTurn: TakeTurn): Duplex {
  let goOn = () => {};
  const stream = new Duplex({
    read: () => goOn(),
    write: (chunk, _, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  const give = async () => {
    for await (const chunk of socket)
      for (let at = 0; at < chunk.length; at += sliceBytes) {
        await takeTurn(sliceBytes);
        if (stream.destroyed) return;
        const wanted = new Promise<void>((resolve) => {
          goOn = resolve;
        });
        if (!stream.push(chunk.subarray(at, at + sliceBytes))) await wanted;
      }
    stream.push(null);
  };
  give().catch(() => stream.destroy());
  return stream;
}
