import { escapeMarkdown, table } from './pages.ts';

interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  description?: string;
  'x-source'?: string;
}

interface Operation {
  summary: string;
  tags: readonly string[];
  operationId: string;
  deprecated?: boolean;
  parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: Schema;
    'x-source'?: string;
  }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The interface as `sotra openapi` gives it, for people: each endpoint with its inputs and its answer, then the shapes that they share. */
export function wirePage({ info, paths, components }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const sections = tags.flatMap((tag) => [
    `## ${tag}`,
    ...operations.filter(({ operation }) => operation.tags[0] === tag).flatMap((each) => operationText(each)),
  ]);
  const shared = Object.entries(components.schemas).flatMap(([name, schema]) => [
    `### ${name} {#${anchor(`shape ${name}`)}}`,
    fieldsText(schema),
  ]);
  return `${[
    '# The wire',
    info.description,
    'The same for programs, as OpenAPI 3.1: [openapi.json](/openapi.json){target="_self" download}, or `sotra openapi`.',
    ...sections,
    '## Shapes',
    ...shared,
  ].join('\n\n')}\n`;
}

function operationText({ title, operation }: { title: string; operation: Operation }): string[] {
  const { summary, operationId, deprecated, parameters = [], requestBody, responses } = operation;
  const inputs = parameters.map((each) => [
    `\`${each.name}\``,
    each.in,
    typeText(each.schema),
    each.required ? 'yes' : '',
    each['x-source'] ?? '',
    escapeMarkdown(each.description ?? ''),
  ]);
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const [status, answer] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const shape = Object.values(answer?.content ?? {})[0]?.schema;
  return [
    `### ${escapeMarkdown(title)} {#${anchor(operationId)}}`,
    `${escapeMarkdown(summary)}.${deprecated ? ' Deprecated.' : ''}`,
    ...(inputs.length === 0 ? [] : [table(['Parameter', 'In', 'Type', 'Required', 'Known from', 'Meaning'], inputs)]),
    ...(body === undefined ? [] : ['**Body**', fieldsText(body)]),
    ...(shape === undefined ? [] : [`**Answer** (${status})`, fieldsText(shape)]),
  ];
}

function fieldsText(schema: Schema): string {
  const rows = fieldRows(schema, '', true);
  return rows.length === 0 ? typeText(schema) : table(['Field', 'Type', 'Required', 'Meaning'], rows);
}

/** A row for each field, also of the objects and lists in it. */
function fieldRows(schema: Schema, path: string, required: boolean): string[][] {
  const own =
    path === ''
      ? []
      : [[`\`${path}\``, typeText(schema), required ? 'yes' : '', escapeMarkdown(schema.description ?? '')]];
  const inside = schema.items === undefined ? schema : schema.items;
  const prefix = schema.items === undefined ? path : `${path}[]`;
  const fields = Object.entries(inside.properties ?? {}).flatMap(([name, field]) =>
    fieldRows(field, prefix === '' ? name : `${prefix}.${name}`, inside.required?.includes(name) ?? false),
  );
  return [...own, ...fields];
}

function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return `[${name}](#${anchor(`shape ${name}`)})`;
  }
  if (schema.items !== undefined) return `list of ${typeText(schema.items)}`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  const { type = 'any', minimum, maximum } = schema;
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''} to ${maximum ?? ''}`.trimEnd();
  return `${[type].flat().join(' or ')}${range}`;
}

function anchor(name: string): string {
  return name.replaceAll(/[^\w]+/g, '-').toLowerCase();
}
