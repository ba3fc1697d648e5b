import { createHash, randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createMcpHandler,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  isInitializeRequest,
  isLegacyRequest,
  type JSONRPCMessage,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ReadBuffer,
  Server,
  type ServerContext,
  serializeMessage,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { usageError } from '../errors.ts';
import { tryParseJson } from '../model/json.ts';
import { nearest } from '../model/nearest.ts';
import type { World } from '../world.ts';
import type { CallOptions, CallOutcome } from './call.ts';
import { instructions, type OpenedInput, serverName, unlessAborted } from './greeting.ts';
import { DefaultJsonSchemaValidator } from './sdk-shims.ts';
import { Question, type Tool } from './tool.ts';
import { definitionOf } from './tools.ts';

export interface ServerOptions {
  tools: readonly Tool[];
  version: string;
  call: (options: CallOptions) => Promise<CallOutcome>;
  warn: (text: string) => void;
}

/** How long a confirmed text stays confirmed. */
const confirmedSec = 600;

function serverMaker({ tools, version, call }: ServerOptions) {
  const listed = tools.map(definitionOf);
  const states = createRequestStateCodec<string>({
    key: crypto.getRandomValues(new Uint8Array(32)),
    ttlSeconds: confirmedSec,
  });
  return () => {
    const server = new Server(
      { name: serverName, version },
      {
        capabilities: { tools: {} },
        instructions,
        jsonSchemaValidator: new DefaultJsonSchemaValidator(),
        requestState: { verify: states.verify },
      },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: listed }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = findTool(params.name, tools);
      const input = params.arguments ?? {};
      refuseUnknownInputs(tool, input);
      const confirm = confirmer(context, server.getClientCapabilities());
      try {
        return resultOf(await call({ tool, input, signal: context.mcpReq.signal, confirm }));
      } catch (thrown) {
        if (!(thrown instanceof Question)) throw thrown;
        return ask(thrown.text, await states.mint(digestOf(thrown.text), context));
      }
    });
    return server;
  };
}

function resultOf({ text, structured, isError }: CallOutcome): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    ...(structured && { structuredContent: { ...structured } }),
    ...(isError && { isError }),
  };
}

/** Errors: `InvalidParams` with the names of the tools. */
function findTool(name: string, tools: readonly Tool[]): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  throw unknown(
    'tool',
    name,
    tools.map((tool) => tool.name),
  );
}

/** Errors: `InvalidParams` with the names of the inputs. */
function refuseUnknownInputs({ inputSchema, name }: Tool, input: Readonly<Record<string, unknown>>): void {
  const known = Object.keys(inputSchema['properties'] as object);
  const stray = Object.keys(input).find((key) => !known.includes(key));
  if (stray !== undefined) throw unknown(`field of ${name}`, stray, known);
}

function unknown(what: string, name: string, known: readonly string[]): ProtocolError {
  const shown = name.slice(0, 80);
  const near = nearest(shown, known);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  const message = `Unknown ${what}: ${shown}.${hint} Known: ${known.join(', ') || 'none'}.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { known });
}

/** Throws the question at first; once the user has answered, the call comes again with the answer. */
function confirmer({ mcpReq }: ServerContext, connected: ClientCapabilities | undefined) {
  return async (text: string) => {
    const own = (mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    const { elicitation } = own ?? connected ?? {};
    if (elicitation === undefined || (elicitation.url !== undefined && elicitation.form === undefined))
      throw usageError(
        'this client cannot show the user what would be signed (it has no elicitation): nothing was signed',
        'Sign in a terminal: sotra comment sign, or sotra comment post.',
      );
    const answer = mcpReq.inputResponses?.['confirm'] as
      | { action?: unknown; content?: { confirm?: unknown } }
      | undefined;
    if (answer === undefined || mcpReq.requestState() !== digestOf(text)) throw new Question(text);
    if (answer.action !== 'accept' || answer.content?.confirm !== true)
      throw usageError(
        'the user did not agree to the text: nothing was signed',
        'Do not ask again unless the user wants to.',
      );
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function ask(message: string, requestState: string): InputRequiredResult {
  const confirm = inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { confirm: { type: 'boolean', title: 'I have read the text and agree' } },
      required: ['confirm'],
    },
  });
  return inputRequired({ inputRequests: { confirm }, requestState });
}

/** Requests that are still being answered when stdin ends get this long. */
const lastMs = 1000;

/** Serves on stdin and stdout until stdin ends or the signal comes. */
export async function serveLines(
  options: ServerOptions,
  { chunks, answeredId }: OpenedInput,
  { io, signal, sleep }: World,
): Promise<void> {
  const waiting = new Set<unknown>();
  let answered = answeredId;
  const buffer = new ReadBuffer();
  const transport: Transport = {
    start: async () => undefined,
    send: async (message: JSONRPCMessage) => {
      const isAnswer = 'id' in message && !('method' in message);
      if (isAnswer) waiting.delete(message.id);
      if (isAnswer && answered !== undefined && message.id === answered) answered = undefined;
      else await io.out.write(serializeMessage(message));
    },
    close: async () => transport.onclose?.(),
  };
  const handle = serveStdio(serverMaker(options), { transport, onerror: ({ message }) => options.warn(message) });
  const take = (chunk: Uint8Array) => {
    buffer.append(Buffer.from(chunk));
    for (let message = nextMessage(buffer, options); message !== null; message = nextMessage(buffer, options)) {
      if (message === undefined) continue;
      if ('method' in message && 'id' in message) waiting.add(message.id);
      transport.onmessage?.(message);
    }
  };
  const takeAll = async () => {
    for await (const chunk of chunks) take(chunk);
    for (let ms = 0; waiting.size > 0 && ms < lastMs; ms += 10) await sleep(10, signal);
  };
  try {
    await unlessAborted(takeAll(), signal);
  } finally {
    await handle.close();
  }
}

/** `undefined` for a line that is no message, which is told on stderr alone; `null` where no line is whole. */
function nextMessage(buffer: ReadBuffer, { warn }: ServerOptions): JSONRPCMessage | null | undefined {
  try {
    return buffer.readMessage();
  } catch {
    warn(
      'a line on stdin is not a message of the protocol, and was skipped: sotra mcp is started by a client, see --config',
    );
    return undefined;
  }
}

/** Clients of the revisions before 2026 that may be connected at once; the one that was idle for longest makes room. */
const maxSessions = 100;

/** Answers requests over HTTP: of clients that open a session, which can be asked and can cancel, and of those that need none. */
export function httpHandler(options: ServerOptions): Pick<McpHttpHandler, 'fetch' | 'close'> {
  const makeServer = serverMaker(options);
  const onerror = ({ message }: Error) => options.warn(message);
  const handler = createMcpHandler(makeServer, { onerror });
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    transport.onclose = () => void sessions.delete(transport.sessionId ?? '');
    const [oldest] = sessions.values();
    if (sessions.size >= maxSessions) await oldest?.close();
    await makeServer().connect(transport);
    return transport;
  };
  const sessionOf = async (request: Request) => {
    const id = request.headers.get('mcp-session-id') ?? '';
    const known = sessions.get(id);
    if (known === undefined) return (await opensSession(request)) ? open() : undefined;
    sessions.delete(id);
    sessions.set(id, known);
    return known;
  };
  return {
    fetch: async (request) => {
      const session = await sessionOf(request);
      return session === undefined ? handler.fetch(request) : session.handleRequest(request);
    },
    close: async () => {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      await handler.close();
    },
  };
}

async function opensSession(request: Request): Promise<boolean> {
  if (request.method !== 'POST' || !(await isLegacyRequest(request))) return false;
  return isInitializeRequest(tryParseJson(await request.clone().text()));
}
