/** In place of what openapi-typescript writes from `sotra openapi`, which `npm run prove` compiles the calls with. */
// biome-ignore lint/suspicious/noExplicitAny: the real one is generated.
export type paths = any;
