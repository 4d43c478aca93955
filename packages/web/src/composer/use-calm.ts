import { useEffect, useRef, useState } from 'react';

const AT_MOST_EVERY_MS = 2_000;

/** The text, changed at most every two seconds: what is read aloud must be able to be heard. */
export function useCalm(text: string): string {
  const [calm, setCalm] = useState(text);
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + AT_MOST_EVERY_MS - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      setCalm(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [text]);
  return calm;
}
