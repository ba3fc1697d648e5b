declare module 'har-schema' {
  /** The JSON Schemas (draft 06) of HAR 1.2 and its parts. */
  const schemas: Readonly<Record<string, object>>;
  export default schemas;
}
