import type { JSX } from 'preact';

export { type ComponentChildren, createElement, render } from 'preact';
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

export type Attributes = JSX.AllHTMLAttributes;
export type InputAttributes = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'class'>;
