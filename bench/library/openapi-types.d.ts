/** Instead of the types that openapi-typescript writes from `sotra openapi`; `npm run prove` compiles the calls with those. */
// biome-ignore lint/suspicious/noExplicitAny: the real one is generated.
export type paths = any;
