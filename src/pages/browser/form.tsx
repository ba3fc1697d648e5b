import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { methods } from '../../api/endpoint.ts';
import type { ActivityDetail, Edited, RequestField, RequestForm, SendOutcome } from '../activity.ts';
import { Text } from './text.tsx';

type Option = string | readonly [value: string, text: string];

interface ChoiceProps {
  label: ComponentChildren;
  value: string;
  /** A value alone is its own text. */
  options: readonly Option[];
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => {
          const [each, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={each} value={each}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

interface InputProps extends Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'class'> {
  label: ComponentChildren;
  value: string;
  onType: (value: string) => void;
}

/** A line to type in. */
export function Input({ label, onType, ...attributes }: InputProps) {
  return (
    <label>
      {label}
      <input {...attributes} onInput={(event) => onType(event.currentTarget.value)} />
    </label>
  );
}

interface ActFormProps {
  /** Its CSS class. */
  kind?: 'act' | 'control';
  button: string;
  /** Asked first, for what cannot be undone. */
  question?: string | undefined;
  /** Shown beside the button. */
  more?: ComponentChildren;
  onAct: () => Promise<ComponentChildren>;
  children?: ComponentChildren;
}

/** A form, or only a button, that shows the outcome. */
export function ActForm({ kind = 'act', button, question, more, onAct, children }: ActFormProps) {
  const [said, say] = useState<ComponentChildren>('');
  const [asks, ask] = useState(false);
  const act = async () => {
    if (question !== undefined && !asks) {
      ask(true);
      return say(question);
    }
    ask(false);
    say('…');
    say(await onAct().catch((thrown: Error) => <Text as="span" class="error" text={thrown.message} />));
  };
  return (
    <form
      class={kind}
      onSubmit={(event) => {
        event.preventDefault();
        void act();
      }}
    >
      {children}
      <button type="submit">{asks ? `Yes, ${button.toLowerCase()}` : button}</button>
      {asks && (
        <button type="button" onClick={() => [ask(false), say('')]}>
          No
        </button>
      )}
      {more}
      <output>{said}</output>
    </form>
  );
}

export function Outcome({ outcome: { text, failed } }: { outcome: SendOutcome }) {
  return <Text as="span" class={failed ? 'error' : ''} text={text} />;
}

interface EditFormProps {
  detail: ActivityDetail;
  /** Sends it with the changes; gives the outcome to show. */
  onSend: (edited: Edited) => Promise<ComponentChildren>;
}

/** The fields that can be changed before sending again; stays open between tries. */
export function EditForm({ detail: { form }, onSend }: EditFormProps) {
  if (form === undefined) return null;
  return form.kind === 'target' ? <TargetForm url={form.url} onSend={onSend} /> : <EditRequest {...{ form, onSend }} />;
}

function TargetForm({ url, onSend }: { url: string; onSend: EditFormProps['onSend'] }) {
  const [target, setTarget] = useState(url);
  return (
    <ActForm kind="control" button="Send" onAct={() => onSend({ url: target })}>
      <Input label="Address" type="url" required value={target} onType={setTarget} />
    </ActForm>
  );
}

function EditRequest({ form, onSend }: { form: RequestForm; onSend: EditFormProps['onSend'] }) {
  const [method, setMethod] = useState(form.method);
  const [values, setValues] = useState(readValues(form));
  const [body, setBody] = useState(form.body ?? '');
  const [key, setKey] = useState('');
  const target = writeTarget(form, values);
  const send = () =>
    onSend({
      method,
      ...(target !== writeTarget(form, readValues(form)) && { target }),
      ...(body !== (form.body ?? '') && { body }),
      ...(key !== '' && { key }),
    });
  return (
    <ActForm
      kind="control"
      button="Send"
      question={method === 'GET' ? undefined : `This sends ${method}.`}
      more={<Text as="code" text={`${method} ${target}`} />}
      onAct={send}
    >
      {form.fields.map((field) => (
        <FieldInput
          key={nameField(field)}
          field={field}
          value={values[nameField(field)] ?? ''}
          onChange={(value) => setValues({ ...values, [nameField(field)]: value })}
        />
      ))}
      {form.body !== null && (
        <>
          <Choice label="Method" value={method} options={methods} onChange={setMethod} />
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

interface FieldInputProps {
  field: RequestField;
  value: string;
  onChange: (value: string) => void;
}

function FieldInput({ field, value, onChange }: FieldInputProps) {
  const { name, help, must, isRequired, choices } = field;
  const label = (
    <span title={must === '' ? help : `${help}; must be ${must}`}>
      <Text text={name} />
      {must === '' && <span class="waiting"> {help}</span>}
    </span>
  );
  if (choices.length === 0)
    return <Input {...{ label, value }} required={isRequired} placeholder={must} onType={onChange} />;
  const others = [...new Set([field.value, ...choices])].filter((each) => each !== '');
  return <Choice {...{ label, value, onChange }} options={[['', 'not sent'], ...others]} />;
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
