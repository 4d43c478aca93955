/** `2026-11-28 21:01`, where the person is. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const [month, day, hours, minutes] = [at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes()].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${at.getFullYear()}-${month}-${day} ${hours}:${minutes}`;
}
