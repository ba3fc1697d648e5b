import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(401).end();
}).listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
