/** The mark: a bar and a curve that joins it. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round">
      <path d="M3.2 4.4h11.6" />
      <path d="M9 4.4c0 3.4-3.6 4-3.6 7.2 0 1.6 1.2 2.8 3.6 2.8s3.6-1.2 3.6-2.8" />
    </svg>
  );
}
