import { sentMethods } from '../../lib/logged-request.ts';
import type { RequestField, RequestForm, RequestRow, SentRequest, ShownExchange, ShownMessage } from '../requests.ts';
import { postJson, useAsked } from './ask.ts';
import { BodyView } from './body-view.tsx';
import { Skeleton } from './cells.tsx';
import { ActForm, Choice, type Field, Fields } from './form.tsx';
import { type ComponentChildren, useMemo, useState } from './preact.ts';
import { Commands, type Fact, Facts, Headers, Text } from './text.tsx';

interface RequestDetailProps {
  number: string;
  /** Told the number of a request that was sent. */
  onSent: (number: number) => void;
}

export function RequestDetail({ number, onSent }: RequestDetailProps) {
  const { data, error } = useAsked<ShownExchange>('service/request', { number }, 0);
  if (data === undefined) return <Skeleton label="Detail" error={error} />;
  const { row, request, answer, why, commands } = data;
  const facts: Fact[] = [
    ['Answered', `${row.time.slice(0, 19).replace('T', ' ')}Z, in ${row.ms} ms`],
    ['By', row.by],
    ...(row.ignored.length > 0 ? [['Ignored', row.ignored.join(', ')] satisfies Fact] : []),
    ...(row.fault !== undefined ? [['Fault', row.fault] satisfies Fact] : []),
  ];
  return (
    <>
      <h2>
        <Status row={row} /> <Text text={`${row.method} ${row.path}`} />
      </h2>
      <Facts facts={facts} />
      <h3>Why</h3>
      <Facts kind="why" facts={why} />
      <Commands commands={commands} />
      <Fold title="Send again with changes">
        <Again shown={data} onSent={onSent} />
      </Fold>
      <h3>Answer</h3>
      {answer === null ? <p class="muted">None came.</p> : <Message message={answer} name="answer" />}
      <h3>Request</h3>
      <Message message={request} name="request" />
    </>
  );
}

export const hasFailed = ({ status, error }: RequestRow) => status >= 400 || error !== null;

export function Status({ row }: { row: RequestRow }) {
  const tone = hasFailed(row) ? 'refused' : row.status === 0 ? 'waiting' : 'forwarded';
  return <span class={`status ${tone}`}>{row.status || 'none'}</span>;
}

function Message({ message: { body, bodyBytes, headers }, name }: { message: ShownMessage; name: string }) {
  return (
    <>
      {bodyBytes === 0 ? <p class="muted">Without a body.</p> : <BodyView base64={body} bytes={bodyBytes} />}
      <Fold title={`Headers of the ${name}`}>
        <Headers headers={headers} />
      </Fold>
    </>
  );
}

/** What is drawn once it is opened. */
function Fold({ title, children }: { title: string; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}

/** Through the local server; gives it as it stands in the list. */
export async function submitRequest(sent: SentRequest): Promise<RequestRow | null> {
  return (await postJson<{ row: RequestRow | null }>('service/request', sent)).row;
}

/** The request as a form; what is not changed is sent as it was. */
function Again({ shown: { row, form }, onSent }: { shown: ShownExchange; onSent: (number: number) => void }) {
  const [method, setMethod] = useState(form.method);
  const fields = useMemo(() => form.fields.map(describeField), [form]);
  const [values, setValues] = useState(readValues(form));
  const [body, setBody] = useState(form.body ?? '');
  const [key, setKey] = useState('');
  const [asked, setAsked] = useState('');
  const target = writeTarget(form, values);
  const send = async () => {
    const question = `${method} ${target} ${body}`;
    if (form.asksFirst && method !== 'GET' && asked !== question) {
      setAsked(question);
      return `This sends ${method} to the service. Press Send again to do so.`;
    }
    setAsked('');
    const made = await submitRequest({
      number: row.number,
      method,
      ...(target !== writeTarget(form, readValues(form)) && { target }),
      ...(body !== (form.body ?? '') && { body }),
      ...(key !== '' && { key }),
    });
    if (made !== null) onSent(made.number);
    return 'Sent.';
  };
  return (
    <ActForm
      kind="control"
      button="Send"
      more={
        <p class="wide">
          <Text as="code" text={`${method} ${target}`} />
        </p>
      }
      onAct={send}
    >
      <Fields fields={fields} values={values} onChange={setValues} />
      {form.body !== null && (
        <>
          <Choice label="Method" value={method} options={sentMethods} onChange={setMethod} />
          <label class="wide">
            Body
            <textarea rows={6} value={body} onInput={(event) => setBody(event.currentTarget.value)} />
          </label>
        </>
      )}
      {form.keys.length > 0 && <Choice label="Key" value={key} options={form.keys} onChange={setKey} />}
    </ActForm>
  );
}

const nameField = ({ place, name }: RequestField) => `${place} ${name}`;

function describeField(field: RequestField): Field<string> {
  const { name, help, must, value, isRequired, choices } = field;
  const label = (
    <span title={must === '' ? help : `${help}; must be ${must}`}>
      <Text text={name} />
      {must === '' && <span class="waiting"> {help}</span>}
    </span>
  );
  const options = [['', 'not sent'], ...(choices.includes(value) ? choices : [value, ...choices])] as const;
  const more = choices.length > 0 ? options.filter((each) => each !== '') : { required: isRequired, placeholder: must };
  return [nameField(field), label, more];
}

const readValues = ({ fields }: RequestForm) => Object.fromEntries(fields.map((each) => [nameField(each), each.value]));

/** Empty fields are not sent. */
function writeTarget({ path, fields }: RequestForm, values: Readonly<Record<string, string>>): string {
  let written = path;
  const query = new URLSearchParams();
  for (const field of fields) {
    const { place, name, isList } = field;
    const value = values[nameField(field)] ?? '';
    if (place === 'path') written = written.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (value !== '') for (const each of isList ? value.split(',') : [value]) query.append(name, each.trim());
  }
  return query.size === 0 ? written : `${written}?${query.toString().replaceAll('+', '%20')}`;
}
