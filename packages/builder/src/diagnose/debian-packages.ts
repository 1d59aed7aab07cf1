// Debian packages for what Python packages need from the system, at run time and when built.

/** Names before each colon, by the package after it. */
const packagesOf = (table: string): ReadonlyMap<string, string> =>
  new Map(table.split(/\s+/).map((entry) => entry.split(":") as [name: string, debian: string]));

/** Libraries that are loaded. */
const loaded = packagesOf(
  `libEGL.so:libegl1 libGL.so:libgl1 libSM.so:libsm6 libXext.so:libxext6 libXrender.so:libxrender1
  libasound.so:libasound2 libcairo.so:libcairo2 libffi.so:libffi8 libfontconfig.so:libfontconfig1
  libgdk_pixbuf-2.0.so:libgdk-pixbuf-2.0-0 libglib-2.0.so:libglib2.0-0 libgobject-2.0-0:libglib2.0-0
  libgobject-2.0.so:libglib2.0-0 libgomp.so:libgomp1 libgthread-2.0.so:libglib2.0-0 libhdf5.so:libhdf5-103-1
  libldap-2.5.so:libldap-2.5-0 libmagic.so:libmagic1 libmariadb.so:libmariadb3 libmysqlclient.so:libmariadb3
  libnss3.so:libnss3 libodbc.so:unixodbc libopenblas.so:libopenblas0 libpango-1.0-0:libpango-1.0-0
  libpango-1.0.so:libpango-1.0-0 libpangocairo-1.0.so:libpangocairo-1.0-0 libpcap.so:libpcap0.8
  libportaudio.so:libportaudio2 libpq.so:libpq5 libproj.so:libproj25 libsndfile.so:libsndfile1
  libspatialindex.so:libspatialindex6 libtesseract.so:libtesseract5 libusb-1.0.so:libusb-1.0-0 libxml2.so:libxml2
  libxmlsec1.so:libxmlsec1 libxslt.so:libxslt1.1 libzbar.so:libzbar0`,
);

/** Programs that builds run. */
const programs = packagesOf(
  `c++:g++ cargo:cargo cc:gcc cmake:cmake g++:g++ gcc:gcc gfortran:gfortran krb5-config:libkrb5-dev make:make
  mariadb_config:libmariadb-dev meson:meson mysql_config:default-libmysqlclient-dev ninja:ninja
  pcap-config:libpcap-dev pg_config:libpq-dev pkg-config:pkg-config swig:swig x86_64-linux-gnu-gcc:gcc
  xml2-config:libxml2-dev xslt-config:libxslt1-dev`,
);

/** Headers, by the last part of their path, and libraries, as the linker and pkg-config name them. */
const compiled = packagesOf(
  `alsa/asoundlib.h:libasound2-dev bluetooth.h:libbluetooth-dev cairo:libcairo2-dev dbus-1:libdbus-1-dev
  ffi.h:libffi-dev glib-2.0:libglib2.0-dev gobject-introspection-1.0:libgirepository1.0-dev
  girepository-2.0:libgirepository-2.0-dev gssapi.h:libkrb5-dev hdf5:libhdf5-dev hdf5.h:libhdf5-dev lber.h:libldap-dev
  ldap.h:libldap-dev libpq-fe.h:libpq-dev libsecret:libsecret-1-dev linux/input.h:linux-libc-dev magic.h:libmagic-dev
  mysql.h:default-libmysqlclient-dev mysqlclient:default-libmysqlclient-dev openssl/ssl.h:libssl-dev pq:libpq-dev
  pcap.h:libpcap-dev portaudio.h:portaudio19-dev sasl.h:libsasl2-dev snappy-c.h:libsnappy-dev sodium.h:libsodium-dev
  sql.h:unixodbc-dev sqlite3.h:libsqlite3-dev usb.h:libusb-1.0-0-dev X11/Xlib.h:libx11-dev
  libxml/xmlversion.h:libxml2-dev libxml/xpath.h:libxml2-dev zlib.h:zlib1g-dev zmq.h:libzmq3-dev`,
);

/** The package of a program, by the last part of its path; null if unknown. */
export const packageOfProgram = (name: string): string | null => programs.get(name) ?? null;

/** The package of a header or of a library to link; null if unknown. */
export const packageToCompile = (name: string): string | null =>
  compiled.get(name) ?? compiled.get(name.split("/").at(-1) ?? name) ?? null;

/** For a library such as `libGL.so.1` that can't be loaded. */
export function libraryRemedy(library: string): string {
  const known = loaded.get(library.replace(/\.so[.\d]*$/, ".so")) ?? loaded.get(library);
  const name =
    known === undefined
      ? "the Debian package that contains it (`apt-file search` finds it)"
      : `the Debian package \`${known}\``;
  return `Ask the operator to install ${name} on this host. Or require a variant that brings its libraries along, such as opencv-python-headless or psycopg[binary].`;
}
