let clicks = 0;
const shown = document.getElementById('counter');

function show() {
  shown.textContent = clicks + ' clicks';
}

document.getElementById('add').addEventListener('clicked', () => {
  clicks =+ 1;
  show();
});
document.getElementById('reset').onclick = show();
