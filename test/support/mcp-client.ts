import { Client, type ClientOptions, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { type Outcome, type RunOptions, run } from './harness.ts';

export interface Connection {
  client: Client;
  /** What `sotra mcp` came to, once its stdin has ended. */
  ended: Promise<Outcome>;
  close: () => Promise<Outcome>;
}

interface ConnectOptions extends RunOptions {
  client?: ClientOptions;
  /** Called before the connection is made. */
  prepare?: (client: Client) => void;
}

/** The official client on the stdin and stdout of `sotra mcp` in this process; it ends with the test. */
export async function connect(argv: string, options: ConnectOptions = {}): Promise<Connection> {
  const { client: clientOptions, prepare, ...runOptions } = options;
  const lines: string[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  async function* stdin() {
    while (!isOver || lines.length > 0) {
      const line = lines.shift();
      if (line !== undefined) yield new TextEncoder().encode(line);
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const end = () => {
    isOver = true;
    wake();
  };
  const transport: Transport = {
    start: async () => undefined,
    send: async (message: JSONRPCMessage) => {
      lines.push(`${JSON.stringify(message)}\n`);
      wake();
    },
    close: async () => {
      end();
      transport.onclose?.();
    },
  };
  const onOut = (text: string) => {
    for (const line of text.split('\n')) if (line !== '') transport.onmessage?.(JSON.parse(line));
  };
  const ended = run(argv, { ...runOptions, stdin: stdin(), onOut });
  const client = new Client({ name: 'test', version: '1' }, clientOptions);
  prepare?.(client);
  const close = async () => {
    await client.close();
    return ended;
  };
  onTestFinished(async () => void (await close()));
  await client.connect(transport);
  return { client, ended, close };
}

/** The text of an answer. */
export const textOf = (result: { content?: unknown }): string => (result.content as { text: string }[])[0]?.text ?? '';

/** The rows of an answer by the names of its columns, and its last line: `complete`, or what to add for more. */
export function readAnswer(result: { content?: unknown }): { rows: Record<string, string>[]; last: string } {
  const lines = textOf(result).split('\n');
  const last = lines.at(-1) ?? '';
  const [head = '', ...cells] = lines.slice(lines[0]?.startsWith('* ') ? 1 : 0, -1);
  const facts = [head, ...cells].map((line) => /^(\w+)\*?: (.*)$/.exec(line));
  if (facts[0])
    return { rows: [Object.fromEntries(facts.flatMap((fact) => (fact ? [[fact[1], fact[2]]] : [])))], last };
  const keys = head.replaceAll('*', '').split('\t');
  const rows = cells.map((line) => Object.fromEntries(line.split('\t').map((cell, at) => [keys[at], cell])));
  return { rows, last };
}
