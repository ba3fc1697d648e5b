import type { AnyEndpoint } from './api/endpoints.ts';
import { createServiceClient, type ServiceClient } from './calls/service-client.ts';
import type { GlobalOptions } from './commands/options.ts';
import { type Config, openConfig, type Service } from './lib/config/config.ts';
import { type Io, lazy } from './lib/io.ts';
import type { AnyView } from './lib/output/view.ts';

/** What a command may use; one for each command line. */
export interface Context {
  /** As typed. */
  argv: readonly string[];
  io: Io;
  options: GlobalOptions;
  config: Config;
  client: ServiceClient;
  /** A line on stderr, unless `--quiet`. */
  note: (text: string) => void;
  warn: (text: string) => void;
  /** From now on lines are written as they come, also with `--json`: this command runs until it is stopped. */
  stream: () => void;
  /** The rows and columns of each endpoint's answer, by its id, as its command prints them. */
  views: () => Promise<Readonly<Record<AnyEndpoint['id'], AnyView>>>;
}

interface ContextOptions extends Pick<Context, 'argv' | 'io' | 'options' | 'stream' | 'views'> {
  say: (line: string) => void;
  /** Prints the requests and answers of `--verbose`, instead of `say`. */
  trace?: (line: string) => void;
  /** In place of the one that flags, environment and settings name. */
  knownService?: Service;
}

export function createContext(given: ContextOptions): Context {
  const { argv, io, options, stream, views, say, trace = say, knownService } = given;
  const note = (text: string) => (options.quiet ? undefined : say(text));
  const warn = (text: string) => note(`warning: ${text}`);
  const opened = openConfig(io, options);
  const config = knownService === undefined ? opened : { ...opened, service: lazy(async () => knownService) };
  const client = createServiceClient({ argv, io, options, config, note, warn, trace });
  return { argv, io, options, config, client, note, warn, stream, views };
}
