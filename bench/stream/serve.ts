import { openSync, readFileSync, readSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves recorded answers by their page number on loopback, and says where. An empty list behind the last. */
export function serveAnswers(file: string, onReady: (url: string) => void): void {
  const offsets: number[] = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
  const input = openSync(file, 'r');
  const server = createServer((request, response) => {
    const page = Number(new URL(request.url ?? '/', 'http://bench.test').searchParams.get('page'));
    const [start, end] = [offsets[page - 1], offsets[page]];
    const body = Buffer.allocUnsafe(start === undefined || end === undefined ? 0 : end - start);
    if (body.length > 0) readSync(input, body, 0, body.length, start ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body.length > 0 ? body : '[]');
  });
  server.listen(0, '127.0.0.1', () => onReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}
