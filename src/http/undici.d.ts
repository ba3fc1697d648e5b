// The parts of undici that transport.ts loads by themselves: its index takes three times as long.
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  export { EnvHttpProxyAgent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  const connect: Dispatcher['connect'];
  export default connect;
}
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
    done: (error: Error | null, answer: Dispatcher.ResponseData) => void,
  ): void;
}
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
